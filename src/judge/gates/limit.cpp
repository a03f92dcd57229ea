// TRAPS T4, T5, T8, T10, T11, T34: faster than the machine can be.
#include <fmt/format.h>

#include <cmath>

#include "judge/gates/gates.h"
#include "judge/order.h"
#include "judge/sequential.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "limit";

const char* words_of(Role limit) {
  return limit == Role::kStream ? "reading its weights once" : "the bare multiply-adds";
}

}  // namespace

Finding limit(const Evidence& evidence) {
  // Two preparations of one arm are called equal within the equivalence region; so is an arm at its
  // limit.
  const double allowed = 1 + evidence.rules.equivalence;
  double fastest = 0;
  for (const Role role : kComparedRoles)
    for (const Role floor_role : {Role::kStream, Role::kPeak}) {
      const std::vector<double> logs =
          log_ratios(evidence.blocks, evidence.fits, floor_role, role, evidence.seed);
      const double ratio = std::exp(median(logs).value_or(-HUGE_VAL));
      const Interval interval = median_set(logs, evidence.rules.verdict_alpha).interval;
      if (interval.low > std::log(allowed))
        return repeatable(failed(
            kName, ratio, allowed,
            fmt::format("{} is {:.3g} times as fast as {} is on this machine ({} weights, "
                        "{} threads); it does not do the work, or weights are not where "
                        "they are said to be",
                        name_of(evidence, role), ratio, words_of(floor_role),
                        evidence.weighing.residency == weigh::Residency::kCold ? "cold" : "hot",
                        evidence.weighing.threads)));
      fastest = std::max(fastest, std::isfinite(ratio) ? ratio : 0);
    }
  return passed(kName, fastest, allowed);
}

}  // namespace tare::judge::gates
