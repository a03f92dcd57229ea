// The timed part, in the arm host: n dispatches and one fence.
#pragma once

#include <cstddef>
#include <span>

#include "arms/prepared_arm.h"

namespace tare::arms {

// Runs one region and times it. Before it, untimed: one dispatch of the same arm on the slot before
// the first, so that no arm pays for the hand-over (TRAPS T38, T42). Throws tare::Error (kArm) when
// a dispatch or the fence fails.
RegionReply run_region(const PreparedArm& prepared, const RegionRequest& request,
                       std::span<const std::byte> inputs, std::span<std::byte> outputs);

// The same dispatches in per-call mode: prepare, bind, enqueue, fence and destroy for every one,
// inside the region.
RegionReply run_region_per_call(const PreparedArm& prepared, const RegionRequest& request,
                                std::span<const std::byte> inputs, std::span<std::byte> outputs);

}  // namespace tare::arms
