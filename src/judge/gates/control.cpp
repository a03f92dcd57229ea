// TRAPS T15, T28, T38: the incumbent, prepared again, must weigh the same as itself.
#include <fmt/format.h>

#include <cmath>

#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

constexpr const char* kName = "control";

}  // namespace

Finding control(const Evidence& evidence) {
  const double allowed = evidence.rules.equivalence;
  const Comparison& comparison = evidence.control;
  if (!evidence.blocks.arms.contains(weigh::Role::kControl))
    return passed(kName, 0, allowed, "no control was weighed");
  const double deviation = comparison.ratio > 0 ? std::fabs(comparison.ratio - 1) : 0;
  const Interval& interval = comparison.verdict_interval;
  if (interval.low > 1 + allowed || interval.high < 1 - allowed)
    return repeatable(failed(
        kName, deviation, allowed,
        fmt::format("the incumbent differs from itself, prepared again, by {} (ratio {:.4f}, "
                    "between {:.4f} and {:.4f}): differences of that size mean nothing here; "
                    "free memory for huge pages, quieten the machine, weigh again",
                    percent(deviation), comparison.ratio, interval.low, interval.high)));
  return passed(kName, deviation, allowed);
}

}  // namespace tare::judge::gates
