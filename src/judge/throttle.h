// A device that was slowed down while a row was weighed: its clocks are looked at before every
// block. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "judge/evidence.h"

namespace tare::judge {

struct Throttling {
  weigh::Role role{};                     // whose ratio to the incumbent it changed
  std::size_t slowed = 0;                 // blocks
  std::uint32_t lowest = 0, highest = 0;  // MHz of the multiprocessors
};

// A ratio that holds at full speed and another that holds while the device is slowed down are not
// one ratio. Nothing where there is no such device, or both arms were slowed alike: that is paired
// away.
std::optional<Throttling> throttling(const Evidence& evidence);

}  // namespace tare::judge
