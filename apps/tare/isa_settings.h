// By which environment variable an implementation lets its instruction set be chosen, and to which
// values this machine can be set: how a proof runs one implementation on several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arms/host_environment.h"
#include "device/machine.h"

namespace tare::app {

struct IsaSetting {
  std::string name;  // "avx2", "ONEDNN_MAX_CPU_ISA=AVX2"
  arms::Settings environment;
};

// For a built-in module by its file's stem ("onednn"). Empty where it has no such variable.
std::vector<IsaSetting> isa_settings(std::string_view module, const device::Isa& isa);

}  // namespace tare::app
