// Files that are whole or not there. Thread-safe for different files.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace tare {

// What to do about an error of these functions: "make room, or name a file on another disk".
const char* advice(std::error_code error);

// All bytes, whatever a signal interrupts. After an error part of them may have been written.
std::error_code write_all(int descriptor, std::string_view bytes);

// What was written is on the disk. A pipe or a terminal cannot be synchronised and need not be.
std::error_code synchronise(int descriptor);

// `path` holds `contents`: at every moment, and after a loss of power, all of what it held before
// or all of these. Written beside it first; nothing is left there, whatever goes wrong.
std::error_code replace_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace tare
