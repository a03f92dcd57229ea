// The timed part, in the arm host: n dispatches and one fence.
#pragma once

#include <cstddef>
#include <span>

#include "arms/prepared_arm.h"
#include "base/error.h"

namespace tare::arms {

// The arm left the calling thread's floating-point control word changed.
class ControlWordChanged : public Error {
 public:
  using Error::Error;
};

// Whether the arm must be told of the region before it is timed: it has a device, and does not
// prepare every dispatch anew.
bool is_staged(const PreparedArm& prepared, const RegionRequest& request);

// Makes a region ready on the device of an arm that has one: not timed (tare_device_arm::stage).
// Throws as below.
void stage_region(const PreparedArm& prepared, const RegionRequest& request,
                  std::span<const std::byte> inputs, std::span<std::byte> outputs);

// Fetches the outputs of a staged region that ran, and keeps the last of them. Returns the seconds
// of the device's own clock; 0 where it has none. Throws as below.
double collect_region(const PreparedArm& prepared, const RegionRequest& request,
                      std::span<std::byte> outputs);

// The untimed dispatch before a region: of the same arm, on the slot before the first, so that no
// arm pays for the hand-over (TRAPS T38, T42). A command of its own: the parent's clock must not
// hold it. Throws tare::Error (kArm) when a dispatch or the fence fails.
void open_region(const PreparedArm& prepared, const RegionRequest& request,
                 std::span<const std::byte> inputs, std::span<std::byte> outputs);

// One dispatch of a chain, with what it needs at hand.
struct ChainStep {
  const PreparedArm* arm = nullptr;
  std::uint32_t slot = 0;
  std::uint64_t x_offset = 0, y_offset = 0;  // bytes into the areas
};

// A region of a chain: all steps in their order, request.dispatches times over, and after each time
// a fence of every arm in it. What is kept is the y of the last step, request.y_bytes long. The
// steps' arms run on the processor, prepared. Throws as above.
RegionReply run_chain(std::span<const ChainStep> chain, const RegionRequest& request,
                      std::span<const std::byte> inputs, std::span<std::byte> outputs);
// The untimed dispatch before it: of the last step.
void open_chain(std::span<const ChainStep> chain, const RegionRequest& request,
                std::span<const std::byte> inputs, std::span<std::byte> outputs);

// Runs the dispatches of a region one by one, each with x and y between guard pages, x read-only,
// and copies every y back to where the request wants it. Not timed. A byte written beside y within
// its pages throws, as above; an access beyond them ends the process.
void run_guarded(const PreparedArm& prepared, const RegionRequest& request,
                 std::span<const std::byte> inputs, std::span<std::byte> outputs);

// Runs one region and times it: prepared, or with prepare, bind, fence and destroy around every
// dispatch. An arm on a device must hold it, unless every dispatch is prepared anew. Throws as
// above.
RegionReply run_region(const PreparedArm& prepared, const RegionRequest& request,
                       std::span<const std::byte> inputs, std::span<std::byte> outputs);

}  // namespace tare::arms
