// The timed part, in the arm host: n dispatches and one fence.
#pragma once

#include <cstddef>
#include <span>

#include "arms/prepared_arm.h"

namespace tare::arms {

// The untimed dispatch before a region: of the same arm, on the slot before the first, so that no
// arm pays for the hand-over (TRAPS T38, T42). A command of its own: the parent's clock must not
// hold it. Throws tare::Error (kArm) when a dispatch or the fence fails.
void open_region(const PreparedArm& prepared, const RegionRequest& request,
                 std::span<const std::byte> inputs, std::span<std::byte> outputs);

// Runs one region and times it: prepared, or with prepare, bind, fence and destroy around every
// dispatch. Throws as above.
RegionReply run_region(const PreparedArm& prepared, const RegionRequest& request,
                       std::span<const std::byte> inputs, std::span<std::byte> outputs);

}  // namespace tare::arms
