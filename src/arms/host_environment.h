// The environment every arm host gets: the user's own, with the same pages and threads for all
// libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::arms {

// "NAME=value" strings for a new process.
std::vector<std::string> host_environment(std::uint32_t threads);

}  // namespace tare::arms
