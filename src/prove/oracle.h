// How far outputs are from the exact result: dot products in fp64 with compensation, for drawn
// elements. Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prove/elements.h"
#include "prove/weights.h"

namespace tare::prove {

// Error of an output against fp64: each error is in units of the output type's step (ulp) at the
// oracle's value, but never smaller than the step at the row's root mean square, so that
// cancellation near zero does not dominate. 0.5 is a perfect rounding. Elements that are not finite
// are counted and left out of max and rms.
struct OracleError {
  std::uint64_t checked = 0;  // elements looked at, the non-finite ones included
  double max_ulp = 0;
  double rms_ulp = 0;
  std::uint64_t non_finite = 0;
};

// Adds up errors of several outputs.
class ErrorSum {
 public:
  void add(const OracleError& error);
  std::uint64_t checked() const { return checked_; }
  double max() const { return max_; }
  double rms() const;

 private:
  double squares_ = 0;
  double finite_ = 0;
  double max_ = 0;
  std::uint64_t checked_ = 0;
};

// One element of y to check: row r, output j.
struct Element {
  std::uint32_t row;
  std::uint64_t output;
  bool operator==(const Element&) const = default;
};

// `count` distinct elements of y[rows, n] (all of them when there are fewer), drawn by `seed`;
// always holds the four corners, so it may return up to 4 when count is less. Sorted by output,
// then row.
std::vector<Element> draw_elements(std::uint32_t rows, std::uint64_t n, std::size_t count,
                                   std::uint64_t seed);

// The exact outputs in double (dot products summed with compensation, and the bias) for those
// elements. `x` is [rows, k]; weights are generated output by output, as numbers, so no weight
// matrix is needed. Fastest when the elements are sorted as draw_elements sorts them: each output's
// weights are generated once.
std::vector<double> oracle(ConstElements x, const WeightKey& weights,
                           std::span<const Element> elements);

// `output` is y[rows, n]; `truth` belongs to `elements`, one by one. The root mean square of a row
// is that of its elements in `truth`, and of all of `truth` where a row has fewer than four: of the
// oracle's values, never of the output's, so that a wrong output cannot widen its own tolerance
// (TRAPS C2).
OracleError oracle_error(ConstElements output, std::uint64_t n, std::span<const Element> elements,
                         std::span<const double> truth);

}  // namespace tare::prove
