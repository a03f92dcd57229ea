#include "proving.h"

#include <algorithm>

#include "base/error.h"
#include "prove/compare.h"
#include "prove/proof.h"

namespace tare::app {
namespace {

constexpr std::uint64_t kProvenSlots = 8;  // drawn; each runs twice in both arms
// Slots beside those drawn whose digests differ; an arm of other bits differs everywhere, and a
// sample tells as much.
constexpr std::size_t kMostDifferingSlots = 8;

}  // namespace

weigh::Proof Proving::prove(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                            std::uint64_t seed) {
  bool breached = false;
  const auto proven = [&](const weigh::Contestant& contestant) {
    prove::ProvenArm arm;
    arm.run = [this, &contestant, &breached](std::uint64_t slot, int which,
                                             std::span<prove::Bf16> into) {
      // Into the last output: behind it lies the widest guard, so that a write far past the end is
      // seen, too.
      const std::uint32_t last = stage_.outputs() - 1;
      prove::poison(stage_.output(last), which);
      run(contestant, slot, last, 1);
      breached = stage_.take_breach().has_value();
      std::copy_n(stage_.output(last).begin(), into.size(), into.begin());
    };
    arm.wrote_outside = [&breached] { return breached; };
    return arm;
  };
  prove::ProofPlan plan;
  plan.problem = problem_;
  plan.slots = incumbent.slots;
  plan.most_slots = kProvenSlots;
  plan.also = prove::differing_slots(incumbent.digests, candidate.digests);
  plan.also.resize(std::min(plan.also.size(), kMostDifferingSlots));
  plan.weight_seed = weight_seed_;
  plan.x = [this](std::uint64_t slot) { return stage_.input(slot); };
  plan.oracle_elements = 64;
  plan.draw_seed = seed;
  return prove::prove(plan, proven(incumbent), proven(candidate)).proof;
}

void Proving::record_digests(weigh::Contestant& contestant) {
  contestant.digests.assign(contestant.slots, 0);
  const std::uint64_t batch = stage_.outputs();
  for (std::uint64_t first = 0; first < contestant.slots; first += batch) {
    const std::uint64_t count = std::min(batch, contestant.slots - first);
    stage_.spoil_outputs();
    run(contestant, first, 0, count);
    for (std::uint64_t i = 0; i < count; ++i)
      contestant.digests[first + i] = prove::digest(stage_.output(static_cast<std::uint32_t>(i)));
  }
}

void Proving::run(const weigh::Contestant& contestant, std::uint64_t first,
                  std::uint32_t first_output, std::uint64_t count) {
  arms::RegionRequest request = stage_.addresses();
  request.output_offset += first_output * request.output_stride;
  request.slots_used = contestant.slots;
  request.first_slot = first;
  request.dispatches = count;
  contestant.host->region(contestant.executor, request);
}

}  // namespace tare::app
