// A loaded module: the shared library of one implementation, checked against the ABI before
// anything in it is trusted.
#pragma once

#include <string>
#include <vector>

#include "tare/arm.h"

namespace tare::arms {

// Loads the library at `path` into this process for good (libraries with thread pools do not
// survive an unload). Throws tare::Error (kArm): no such file, not loadable (what is missing), no
// entry symbol, no arms, another ABI version, a missing function.
std::vector<const tare_arm*> load_module(const std::string& path);

// "oneDNN 2.6.3"; the title alone where the version is unknown.
std::string title_with_version(const tare_arm& arm);

}  // namespace tare::arms
