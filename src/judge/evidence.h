// What the gates look at: the samples, arranged, fitted and compared once.
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
  Blocks blocks;
  std::map<weigh::Role, Fit> fits;
  Comparison candidate;  // incumbent / candidate, widened by the control's deviation
  Comparison control;    // incumbent / control
};
// The result refers to both arguments: they must outlive it.
Evidence gather(const weigh::Weighing& weighing, const Rules& rules);

// The comparisons alone: what decided() needs after every block.
Comparison candidate_comparison(const Blocks& blocks, const Comparison& control, std::uint64_t seed,
                                const Rules& rules);
Comparison control_comparison(const Blocks& blocks, std::uint64_t seed, const Rules& rules);

// The arm of that role as it was prepared; null when the weighing has none.
const weigh::Arm* arm_of(const weigh::Weighing& weighing, weigh::Role role);

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
