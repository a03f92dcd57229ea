#include "kernels/cuda/relay_plan.h"

#include <algorithm>

#include "base/error.h"

namespace tare::kernels::cuda {
namespace {

// What every thread block reads of the sums in front before it can begin: 24 KiB take a
// microsecond.
constexpr std::uint64_t kMostGathered = 6144;
constexpr double kFull = 0.9;  // of the places of all turns

double fullness(const RelayStep& step) {
  const std::uint32_t turns = (step.units() + kRelayBlocks - 1) / kRelayBlocks;
  return static_cast<double>(step.units()) / (turns * kRelayBlocks);
}

// The fewest parts that fill the turns well, or the fullest.
std::uint32_t choose_parts(const RelayShape& shape, std::uint32_t parts_before) {
  RelayStep best{static_cast<std::uint32_t>(shape.k), static_cast<std::uint32_t>(shape.n), 1};
  double most = 0;
  for (std::uint32_t parts = 1; parts <= 12; ++parts) {
    if (kRelayBlocks % parts != 0) continue;  // else a thread block's part changes in a turn
    const RelayStep step{best.k, best.n, parts};
    if (parts > 1 && step.stages() < 2 * parts) break;
    if (std::uint64_t{step.longest()} * kRelayDepth * parts_before > kMostGathered) continue;
    if (fullness(step) > most) {
      most = fullness(step);
      best = step;
    }
    if (most >= kFull) break;
  }
  return best.parts;
}

}  // namespace

std::vector<RelayStep> relay_steps(std::span<const RelayShape> chain) {
  if (chain.empty() || chain.size() > kMostRelaySteps)
    fail(Blame::kInput, "a relay has 1 to {} projections, this one {}", kMostRelaySteps,
         chain.size());
  std::vector<RelayStep> steps;
  for (const RelayShape& shape : chain) {
    if (shape.k == 0 || shape.n == 0 || shape.k % kRelayDepth != 0 || shape.n % kRelayOutputs != 0)
      fail(Blame::kInput,
           "a relay takes k in multiples of {} and n in multiples of {}, not {} x {}", kRelayDepth,
           kRelayOutputs, shape.k, shape.n);
    if (!steps.empty() && shape.k > steps.back().n)
      fail(Blame::kInput, "a projection of k = {} cannot read the {} outputs of the one before",
           shape.k, steps.back().n);
    const std::uint32_t before = steps.empty() ? 1 : steps.back().parts;
    steps.push_back({static_cast<std::uint32_t>(shape.k), static_cast<std::uint32_t>(shape.n),
                     choose_parts(shape, before)});
  }
  return steps;
}

RelayLayout relay_layout(std::span<const RelayStep> steps, std::uint32_t rows) {
  constexpr std::uint32_t kShared = (227 << 10) - 1024, kBarriers = 1024, kSums = 2 * 2048;
  const std::uint32_t longest = std::ranges::max(steps, {}, &RelayStep::longest).longest();
  RelayLayout layout;
  layout.input_pitch = longest * kRelayDepth * 2 + 64;
  const std::uint32_t inputs = (rows * layout.input_pitch + 127) / 128 * 128;
  const auto table = static_cast<std::uint32_t>(steps.size() * 32);
  const std::uint32_t taken = kBarriers + inputs + kSums + table;
  layout.stages = taken < kShared ? std::min((kShared - taken) / kRelayStageBytes, 32U) : 0;
  layout.queue = kBarriers;
  layout.inputs = layout.queue + layout.stages * kRelayStageBytes;
  layout.sums = layout.inputs + inputs;
  layout.steps = layout.sums + kSums;
  layout.bytes = layout.steps + table;
  return layout;
}

}  // namespace tare::kernels::cuda
