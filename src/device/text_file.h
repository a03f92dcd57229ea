// Small text files of /proc and /sys, read whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::device {

// The content, or nothing when the file is missing or may not be read: on many machines much of
// /proc and /sys is hidden.
std::optional<std::string> read_text(const std::filesystem::path& path);

// The content without white space around it; "" when it cannot be read.
std::string read_word(const std::filesystem::path& path);

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> words_of(std::string_view line);

// A whole non-negative decimal number; nothing for anything else ("max", "", "-1", "12K").
std::optional<std::uint64_t> parse_number(std::string_view text);

// "32K", "2048K", "260M" as sysfs writes sizes, in bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

// "0-3,8" as the kernel writes sets of processors. Malformed parts are skipped.
std::vector<unsigned> parse_processor_list(std::string_view text);

}  // namespace tare::device
