#include "judge/evidence.h"

#include "judge/fit.h"

namespace tare::judge {

using weigh::Role;

Comparison control_comparison(const Blocks& blocks, std::uint64_t seed, const Rules& rules) {
  return compare(log_ratios(blocks, Role::kIncumbent, Role::kControl, seed), rules);
}

Comparison candidate_comparison(const Blocks& blocks, const Comparison& control, std::uint64_t seed,
                                const Rules& rules) {
  return widened_by(control,
                    compare(log_ratios(blocks, Role::kIncumbent, Role::kCandidate, seed), rules));
}

Evidence gather(const weigh::Weighing& weighing, const Rules& rules) {
  Evidence evidence{weighing, rules, arrange(weighing), {}, {}, {}};
  for (const auto& [role, times] : evidence.blocks.arms) evidence.fits[role] = fit(times);
  evidence.control = control_comparison(evidence.blocks, weighing.seed, rules);
  evidence.candidate =
      candidate_comparison(evidence.blocks, evidence.control, weighing.seed, rules);
  return evidence;
}

const weigh::Arm* arm_of(const weigh::Weighing& weighing, Role role) {
  for (const weigh::Arm& arm : weighing.arms)
    if (arm.role == role) return &arm;
  return nullptr;
}

}  // namespace tare::judge
