// Digests of the lines of a results file: what was measured cannot be changed afterwards without
// that a replay says so. They guard against accidents and quiet edits, not against somebody who
// computes them anew. docs/results-schema.md ("Digests") says how another program checks them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tare::report {

using Json = nlohmann::json;

// XXH3 (128 bits, no seed) of the canonical bytes of a value, as 32 hexadecimal digits. Equal
// values have equal digests, however they are written: order of fields, white space and "1.0" for
// "1" do not count, the last bit of a number does. Throws tare::Error (kInput) for a value that is
// nested deeper than any line of ours.
std::string digest(const Json& value);

// What the field "digest" of a header must hold: over all its other fields.
std::string header_digest(const Json& header);

// What the field "digest" of a row must hold: one digest for each part of its weighing (an object
// or a list) by the name of the part, "settings" over what else the weighing holds, "screened", and
// "row" over these and the row's name. {} where the row lacks what it takes.
Json row_digests(const Json& row);

// What the field "digest" of a footer must hold: over its other fields, and the digests of the
// header and of the rows ("row") as they stand in the lines before it.
std::string footer_digest(const Json& footer, const std::vector<std::string>& lines);

}  // namespace tare::report
