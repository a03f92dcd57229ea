// What serving the winners would give a whole token, as far as it was measured: an estimate from
// the rows of a table.
//
// One token (or one step of several rows) reads every projection's weights once. The weighed ones
// take count times the incumbent's measured time; the others are taken to be read at the
// incumbents' mean GB/s, before and after. What is no projection (attention, norms, sampling) is
// not counted.
#pragma once

#include <cstdint>
#include <vector>

#include "report/results.h"

namespace tare::report {

// Bytes of the projections that have a row in the table, over all that a token reads, each in the
// type that it is weighed as (elements, in results files that do not say those); 0 when the model's
// total is not known.
double weighed_share(const problem::Model& model, const std::vector<Row>& rows);

// Whether the row weighs that projection of that model.
bool is_row_of(const Row& row, const problem::Model& model, const problem::Projection& projection);

// Share of the incumbent's time that a candidate `ratio` times as fast saves; 0 where it is not
// known.
double saved_share(double ratio);

struct ServingGain {
  std::uint32_t rows = 0;    // of a step
  std::uint32_t served = 0;  // projections (rows of the table) marked serve
  double saved = 0;          // share of the step's projection time that serving saves
  // From the edges of the rows' intervals, all low and all high at once: wider than an interval of
  // the sum would be if the rows' errors are independent.
  judge::Interval interval;
};

// One for each row count that has a believed row of this model, ascending. `stands`: of each row,
// whether its win stands together with the others (together.h); one that does not is not served.
std::vector<ServingGain> serving_gains(const problem::Model& model, const std::vector<Row>& rows,
                                       const std::vector<bool>& stands);

}  // namespace tare::report
