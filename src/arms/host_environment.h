// The environment every arm host gets: the user's own, with the same pages and threads for all
// libraries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/machine.h"

namespace tare::arms {

// Variables of this process that arm hosts do not get: a library that somebody's debugging hobbles
// is no incumbent (TRAPS T37).
std::vector<device::Hobble> withheld_variables();

using Settings = std::map<std::string, std::string>;  // variable, value

// "NAME=value" strings for a new process; `more` over all others.
std::vector<std::string> host_environment(std::uint32_t threads, const Settings& more = {});

}  // namespace tare::arms
