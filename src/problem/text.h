// Text from files, made fit to print: names, paths and values that a stranger wrote.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tare::problem {

// Valid UTF-8 without control characters, at most `most_bytes` of `text` and "..." after a cut:
// quotes, backslashes and control characters are escaped as JSON does, bytes that are not UTF-8
// become U+FFFD. What a file names may reach a terminal and a JSON report, and must break neither.
std::string printable(std::string_view text, std::size_t most_bytes = 256);

// 'path', printable: how every sentence about a file begins.
std::string quoted(const std::filesystem::path& path);

// What to call the model of a file that does not name it: the file's stem, or its folder when the
// stem says nothing ("config", "model", "model-00001-of-00004"). In a Hugging Face cache
// (models--OWNER--NAME/snapshots/ HASH/config.json) it is NAME.
std::string name_from_path(const std::filesystem::path& path);

}  // namespace tare::problem
