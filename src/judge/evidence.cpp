#include "judge/evidence.h"

#include "judge/fit.h"

namespace tare::judge {
namespace {

using weigh::Role;

std::uint64_t seed_of(const weigh::Weighing& weighing) {
  const std::size_t placement = weighing.regions.empty() ? 0 : weighing.regions.front().placement;
  return placement < weighing.placements.size() ? weighing.placements[placement].seed : 0;
}

std::map<Role, Fit> fits_of(const Blocks& blocks, const weigh::Weighing& weighing) {
  std::map<Role, Fit> fits;
  for (const auto& [role, times] : blocks.arms)
    fits[role] = fit(times, weigh::weight_bytes(weighing), weigh::links(weighing));
  return fits;
}

Correction candidate_correction(const Blocks& blocks, const std::map<Role, Fit>& fits,
                                double doubt) {
  return doubted(correction(blocks, fits, Role::kIncumbent, Role::kCandidate), doubt);
}

}  // namespace

Evidence gather(const weigh::Weighing& weighing, const Rules& rules) {
  Evidence evidence{
      .weighing = weighing, .rules = rules, .seed = seed_of(weighing), .blocks = arrange(weighing)};
  const Blocks& blocks = evidence.blocks;
  evidence.fits = fits_of(blocks, weighing);
  const Mix control = rounds_of(blocks, Role::kControl, evidence.seed);
  evidence.control = compare(control, {}, rules);
  evidence.doubt = doubt(control, rules);
  evidence.correction = candidate_correction(blocks, evidence.fits, evidence.doubt);
  evidence.candidate =
      compare(rounds_of(blocks, Role::kCandidate, evidence.seed), evidence.correction, rules);
  return evidence;
}

Verdict verdict_so_far(const weigh::Weighing& weighing, const Rules& rules) {
  const Blocks blocks = arrange(weighing);
  if (blocks.count() < rules.least_blocks) return Verdict::kInconclusive;
  const std::uint64_t seed = seed_of(weighing);
  const Mix control = rounds_of(blocks, Role::kControl, seed);
  return verdict_on(rounds_of(blocks, Role::kCandidate, seed),
                    candidate_correction(blocks, fits_of(blocks, weighing), doubt(control, rules)),
                    rules);
}

}  // namespace tare::judge
