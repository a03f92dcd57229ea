// What the gates look at: the samples of one placement, arranged, fitted and compared once.
#pragma once

#include <map>
#include <optional>

#include "judge/blocks.h"
#include "judge/judge.h"
#include "judge/pairs.h"

namespace tare::judge {

struct Evidence {
  const weigh::Weighing& weighing;
  const Rules& rules;
  std::uint64_t seed = 0;  // of the placement
  Blocks blocks;
  std::map<weigh::Role, Fit> fits{};
  double doubt = 1;         // the control's deviation from the incumbent, where it has any
  Correction correction{};  // of incumbent / candidate, doubted
  Comparison candidate{};   // incumbent / candidate
  Comparison control{};     // incumbent / control
};
// `weighing` holds the regions of one placement (weigh::of_placement). The result refers to both
// arguments: they must outlive it.
Evidence gather(const weigh::Weighing& weighing, const Rules& rules);

// The verdict alone: what decided() needs after every block.
Verdict verdict_so_far(const weigh::Weighing& weighing, const Rules& rules);

// Median over the arm's long regions of `value(region)`; nothing when it has none.
template <typename Value>
std::optional<double> median_over_regions(const Evidence& evidence, weigh::Role role, Value value);

}  // namespace tare::judge

#include "judge/order.h"

template <typename Value>
std::optional<double> tare::judge::median_over_regions(const Evidence& evidence, weigh::Role role,
                                                       Value value) {
  const auto regions = evidence.blocks.long_regions.find(role);
  if (regions == evidence.blocks.long_regions.end()) return std::nullopt;
  std::vector<double> values;
  for (const weigh::Region* region : regions->second) values.push_back(value(*region));
  return median(std::move(values));
}
