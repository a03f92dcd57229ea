// TRAPS T18: equal threads or no verdict.
#include <fmt/format.h>

#include "judge/gates/gates.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "threads";
// Processor time over wall time beyond the threads offered. A whole extra thread shows as 1; the
// accounting of processor time over regions of milliseconds is good to a few hundredths.
constexpr double kSlack = 0.25;

Finding check_offers(const Evidence& evidence) {
  const weigh::Arm* incumbent = weigh::arm_of(evidence.weighing, Role::kIncumbent);
  for (const Role role : kComparedRoles) {
    const weigh::Arm* arm = weigh::arm_of(evidence.weighing, role);
    if (incumbent == nullptr || arm == nullptr) continue;
    if (arm->threads_offered != incumbent->threads_offered)
      return failed(
          kName, arm->threads_offered, incumbent->threads_offered,
          fmt::format("{} was offered {} threads, the incumbent {}; weigh both with the "
                      "same --threads",
                      name_of(evidence, role), arm->threads_offered, incumbent->threads_offered));
    if (arm->threads_offered > 0 && arm->dispatched.threads > arm->threads_offered)
      return failed(
          kName, arm->dispatched.threads, arm->threads_offered,
          fmt::format("{} says that it ran {} threads where {} were offered; make it keep "
                      "to services->threads",
                      name_of(evidence, role), arm->dispatched.threads, arm->threads_offered));
  }
  return passed(kName, incumbent == nullptr ? 0 : incumbent->threads_offered,
                incumbent == nullptr ? 0 : incumbent->threads_offered);
}

double busy_threads(const weigh::Region& region) {
  return region.cpu_seconds / region.seconds;
}

}  // namespace

Finding threads(const Evidence& evidence) {
  Finding offers = check_offers(evidence);
  if (!offers.passed) return offers;
  for (const Role role : kComparedRoles) {
    const weigh::Arm* arm = weigh::arm_of(evidence.weighing, role);
    const auto busy = median_over_regions(evidence, role, busy_threads);
    if (arm == nullptr || arm->threads_offered == 0 || !busy) continue;
    const double allowed = arm->threads_offered + kSlack;
    if (*busy > allowed)
      return failed(kName, *busy, allowed,
                    fmt::format("{} used {:.2f} processors at the median where {} threads were "
                                "offered; make it keep to services->threads",
                                name_of(evidence, role), *busy, arm->threads_offered));
  }
  return offers;
}

}  // namespace tare::judge::gates
