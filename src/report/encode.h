// From plain data to the lines of a results file. NaN is written as null, infinities as the strings
// "inf" and "-inf": JSON has no word for them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/calibration.h"
#include "report/results.h"

namespace tare::report {

using OrderedJson = nlohmann::ordered_json;

// Each is one line, without its '\n'.
std::string header_line(const Header& header);
std::string row_line(const Row& row);
std::string footer_line(const Footer& footer, std::size_t rows);
std::string calibration_header_line(const CalibrationHeader& header);
std::string trial_line(const judge::Trial& trial);

// What stands at the top of a row for other programs: model, projection, k, n, rows, incumbent,
// candidate, bound, gap, ratio, interval, bits, verdict, decision, cause. null where it was not
// measured.
OrderedJson row_summary(const Row& row);

// "2.6.3": the version of the library that an arm ran, as far as its title or its dispatch record
// tell; else "".
std::string version_of(const weigh::Arm& arm);

}  // namespace tare::report
