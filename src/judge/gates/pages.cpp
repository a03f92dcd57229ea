// TRAPS T14, T38: huge pages on one side only are worth more than most kernels.
#include <fmt/format.h>

#include <cmath>

#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "pages";
constexpr double kAllowed =
    0.1;  // difference in the share of a ring's memory that is on huge pages

}  // namespace

Finding pages(const Evidence& evidence) {
  const weigh::Arm* incumbent = weigh::arm_of(evidence.weighing, Role::kIncumbent);
  double widest = 0;
  for (const Role role : {Role::kControl, Role::kCandidate, Role::kStream}) {
    const weigh::Arm* arm = weigh::arm_of(evidence.weighing, role);
    if (incumbent == nullptr || arm == nullptr) continue;
    const double difference = std::fabs(arm->huge_page_share - incumbent->huge_page_share);
    widest = std::max(widest, difference);
    if (difference > kAllowed)
      return failed(
          kName, difference, kAllowed,
          fmt::format("{} of the ring of {} is on huge pages, {} of the incumbent's; free "
                      "memory, or use services->allocate for packed weights",
                      percent(arm->huge_page_share), name_of(evidence, role),
                      percent(incumbent->huge_page_share)));
  }
  return passed(kName, widest, kAllowed);
}

}  // namespace tare::judge::gates
