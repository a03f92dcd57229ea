// From the lines of a results file back to plain data. Nothing in a file is trusted: every field is
// checked for its type and its range, every length is that of an array that is there. A field that
// is wrong throws tare::Error (kInput) with a sentence that names it, e.g. "field
// 'weighing.arms[1].role' is "king": it must be one of ...". Fields that are not known are passed
// over, so that a file of the same schema written by a later Tare can be read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/calibration.h"
#include "report/results.h"

namespace tare::report {

using Json = nlohmann::json;

Header decode_header(const Json& object);
// Everything but the judgement, which is recomputed from the weighing.
Row decode_row(const Json& object);
Footer decode_footer(const Json& object);
CalibrationHeader decode_calibration_header(const Json& object);
judge::Trial decode_trial(const Json& object);

// The fields at the top of a row that are not what its weighing gives, one sentence each, and the
// first such field of its judgement: somebody edited the file, or another version judged it.
std::vector<std::string> differences(const Json& object, const Row& judged);

}  // namespace tare::report
