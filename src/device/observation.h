// Everything that `tare doctor` looks at, gathered in one go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/accelerator.h"
#include "device/limits.h"
#include "device/machine.h"

namespace tare::device {

// Fresh memory taken from the arena, to see what pages it gets and how fast it comes.
struct PageTrial {
  std::uint64_t bytes = 0;  // 0: there was not even this much
  double seconds = 0;       // until every page was touched
  double huge_share = 0;
};

struct Observation {
  Machine machine;
  std::string hypervisor;  // "KVM"; "" on bare metal, or when it does not say
  std::uint32_t processors_online = 0;
  GroupLimits limits;
  PageTrial trial;
  Noise noise;
  std::vector<Hobble> hobbles;
  AcceleratorObservation accelerator;
};

// Takes `seconds` (see watch()) and the fraction of a second that fresh memory takes. Throws as
// watch() does.
Observation observe(double seconds);

// "KVM" for "KVMKVMKVM", and so on; the signature itself when it is not known.
std::string hypervisor_name(const std::string& signature);

}  // namespace tare::device
