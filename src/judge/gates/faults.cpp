// TRAPS T2, T13: first touches, allocations, compiled code and loaded libraries inside a region.
#include <fmt/format.h>

#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Region;
using weigh::Role;

constexpr const char* kName = "faults";
// One minor fault of a 4 KiB page, zeroing included: 0.7 us on bare metal, 3.0 to 3.6 us measured
// in a virtual machine (65,536 first touches, five times). The dearer one is charged.
constexpr double kSecondsPerFault = 3e-6;
constexpr double kAllowedShare = 0.005;
constexpr double kFewFaults = 8;  // a stack that grows, a page that was reclaimed

double mappings(const Region& region) {
  return static_cast<double>(region.new_mappings);
}
double fault_count(const Region& region) {
  return static_cast<double>(region.page_faults);
}

}  // namespace

Finding faults(const Evidence& evidence) {
  // Allocating in every call is what the per-call mode is there to show.
  if (evidence.weighing.mode == weigh::Mode::kPerCall) return passed(kName, 0, kAllowedShare);
  double worst = 0;
  for (const Role role : kComparedRoles) {
    const double mapped = median_over_regions(evidence, role, mappings).value_or(0);
    if (mapped >= 1)
      return failed(
          kName, mapped, 0,
          fmt::format("{} mapped memory in its timed regions ({:.0f} new mappings at the "
                      "median): it allocates, compiles or loads there; do that in prepare, "
                      "or weigh with --mode per-call",
                      name_of(evidence, role), mapped));
    const double count = median_over_regions(evidence, role, fault_count).value_or(0);
    const double share = median_over_regions(evidence, role, [](const Region& r) {
                           return fault_count(r) * kSecondsPerFault / r.seconds;
                         }).value_or(0);
    if (count > kFewFaults && share > kAllowedShare)
      return failed(
          kName, share, kAllowedShare,
          fmt::format("{} took {:.0f} page faults in a timed region at the median, about {} "
                      "of its time; touch memory in prepare, or weigh with --mode per-call",
                      name_of(evidence, role), count, percent(share)));
    worst = std::max(worst, share);
  }
  return passed(kName, worst, kAllowedShare);
}

}  // namespace tare::judge::gates
