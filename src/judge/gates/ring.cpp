// TRAPS T4, T5, T6, T33: weights that are called cold and come from a cache.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "judge/gates/gates.h"
#include "judge/order.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "ring";
constexpr double kAllowed = 0.03;        // how much halving the ring may move the time
constexpr std::size_t kFewestPairs = 8;  // fewer have no interval of the median at 1 %

// log(full ring / half ring) of an arm's regions of one length, in order of blocks: rounds, or the
// long regions of older files. When the ring does not matter, which of the two is the longer is a
// fair coin.
std::vector<double> log_ratios_of_halving(const Blocks& blocks, Role role) {
  std::vector<double> values;
  const auto arm = blocks.arms.find(role);
  if (arm == blocks.arms.end()) return values;
  const ArmTimes& times = arm->second;
  const bool in_rounds = times.half_ring_dispatches == times.round_dispatches;
  for (std::size_t i = 0; i < blocks.count(); ++i) {
    const double whole = in_rounds ? mean(times.round_seconds[i]) : times.long_seconds[i];
    const double value = std::log(whole / times.half_ring_seconds[i]);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

// Whether halving an arm's ring moves its time.
Finding halved(const Evidence& evidence, Role role) {
  const std::vector<double> logs = log_ratios_of_halving(evidence.blocks, role);
  const double moved = std::expm1(median(logs).value_or(0));
  if (logs.size() < kFewestPairs)
    return passed(kName, std::fabs(moved), kAllowed,
                  fmt::format("only {} pairs of full and half ring: {} are needed to tell whether "
                              "weights are cold",
                              logs.size(), kFewestPairs));
  // Looked at once: nothing that stops a weighing looks at half rings.
  const Interval interval = median_interval(logs, evidence.rules.verdict_alpha);
  const bool faster = interval.low > std::log1p(kAllowed);
  const bool slower = interval.high < -std::log1p(kAllowed);
  if (!faster && !slower) return passed(kName, std::fabs(moved), kAllowed);
  return repeatable(failed(
      kName, std::fabs(moved), kAllowed,
      fmt::format("half of the ring of {} takes {} {} time than the whole: part of the "
                  "weights comes from a cache; use a larger ring",
                  name_of(evidence, role), percent(std::fabs(moved)), faster ? "less" : "more")));
}

const weigh::Arm* with_small_ring(const weigh::Weighing& weighing) {
  for (const Role role : {Role::kIncumbent, Role::kCandidate}) {
    const weigh::Arm* arm = weigh::arm_of(weighing, role);
    if (arm != nullptr && arm->ring_bytes > 0 && arm->ring_bytes < weighing.last_level_cache_bytes)
      return arm;
  }
  return nullptr;
}

// An arm whose process keeps more of a GPU's L2 for itself than others do: of its weights so many
// bytes outlive the rest of the ring. Nothing when all keep the same.
std::optional<Finding> set_aside(const Evidence& evidence) {
  const auto& arms = evidence.weighing.arms;
  if (arms.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax_element(arms, {}, &weigh::Arm::l2_set_aside_bytes);
  if (most->l2_set_aside_bytes == least->l2_set_aside_bytes) return std::nullopt;
  const auto kept = static_cast<double>(most->l2_set_aside_bytes);
  const auto others = static_cast<double>(least->l2_set_aside_bytes);
  return failed(
      kName, kept, others,
      fmt::format("{} keeps {} of the GPU's L2 for lines that persist, and {} {}: part of "
                  "its weights stays there, whatever is read between; leave "
                  "cudaLimitPersistingL2CacheSize as it is",
                  name_of(evidence, most->role), bytes(kept), name_of(evidence, least->role),
                  bytes(others)));
}

}  // namespace

Finding ring(const Evidence& evidence) {
  const weigh::Weighing& weighing = evidence.weighing;
  if (weighing.residency == weigh::Residency::kHot) return passed(kName, 0, kAllowed);
  if (const weigh::Arm* arm = with_small_ring(weighing))
    return failed(
        kName, static_cast<double>(arm->ring_bytes),
        static_cast<double>(weighing.last_level_cache_bytes),
        fmt::format("the ring of {} holds {} and the last-level cache {}: weights are not "
                    "cold; use a larger ring",
                    name_of(evidence, arm->role), bytes(static_cast<double>(arm->ring_bytes)),
                    bytes(static_cast<double>(weighing.last_level_cache_bytes))));
  if (const auto finding = set_aside(evidence)) return *finding;
  // Files of before have half rings of the incumbent alone: that a candidate has none is no
  // finding.
  const Finding candidate = halved(evidence, Role::kCandidate);
  return candidate.passed ? halved(evidence, Role::kIncumbent) : candidate;
}

}  // namespace tare::judge::gates
