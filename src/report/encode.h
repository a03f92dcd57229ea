// From plain data to the lines of a results file. NaN is written as null, infinities as the strings
// "inf" and "-inf": JSON has no word for them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/calibration.h"
#include "report/results.h"

namespace tare::report {

using OrderedJson = nlohmann::ordered_json;

// A line, without its '\n', and the digest that vouches for it (digest.h).
struct SealedLine {
  std::string text;
  std::string digest;
};
SealedLine header_line(const Header& header);
SealedLine row_line(const Row& row);
// `digests` are those of the header and of the rows before it, in order.
std::string footer_line(const Footer& footer, const std::vector<std::string>& digests);

// One line each, without its '\n'.
std::string calibration_header_line(const CalibrationHeader& header);
std::string trial_line(const judge::Trial& trial);
std::string calibration_footer_line(const Footer& footer, std::size_t trials);

// What stands at the top of a row for other programs: model, projection, k, n, rows, incumbent,
// candidate, bound, gap, ratio, interval, bits, verdict, decision, cause. null where it was not
// measured.
OrderedJson row_summary(const Row& row);
// All that the judge says, as it stands below.
OrderedJson judgement_object(const judge::Judgement& judgement);

// "2.6.3": the version of the library that an arm ran, as far as its title or its dispatch record
// tell; else "".
std::string version_of(const weigh::Arm& arm);

}  // namespace tare::report
