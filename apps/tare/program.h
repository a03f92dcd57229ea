// What every verb needs to know of the program itself.
#pragma once

#include <string>

namespace tare::app {

// docs/exit-codes.md
inline constexpr int kExitDone = 0;
inline constexpr int kExitIncomplete =
    1;  // something was refused or failed, and left rows without a verdict
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitInterrupted = 130;

// The path of this executable, links resolved.
std::string executable_path();

}  // namespace tare::app
