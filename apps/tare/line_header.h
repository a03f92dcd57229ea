// The first line of a file of lines: which verb wrote it, when, where, by which command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tare::app {

// {"kind": "header", "schema": ..., "tare_version", "date", "command", "machine"}
nlohmann::json line_header(std::string_view schema, const std::vector<std::string>& command,
                           std::string_view machine);

}  // namespace tare::app
