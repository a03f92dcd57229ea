// TRAPS T8, T9, T34: the parent's clock, the arm's own and a device's must tell one story.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Region;
using weigh::Role;

constexpr const char* kName = "clocks";
// The outer time holds the hand-over, two futex wake-ups: tens of microseconds, up to a millisecond
// on a busy virtual machine. What is beyond is time that the arm did not account for.
constexpr double kHandOver = 1e-3;
constexpr double kShare = 0.02;
// The arm's region lies inside the parent's, on one clock: it cannot be longer. Room for rounding
// only.
constexpr double kRounding = 1e-6;
constexpr double kRoundingShare = 1e-3;

// What launching a graph and waiting for it cost the host: 9 to 18 us on an H200, the region's own
// events left out. A tenth of a millisecond is no launch any more.
constexpr double kLaunch = 1e-4;

double median_of(const Evidence& evidence, Role role, double (*value)(const Region&)) {
  return median_over_regions(evidence, role, value).value_or(0);
}

// The device's own clock lies inside the host's: it cannot say more, and what it leaves out is a
// launch.
std::optional<Finding> device_clock(const Evidence& evidence, Role role) {
  const double device = median_of(evidence, role, [](const Region& r) { return r.device_seconds; });
  if (!(device > 0)) return std::nullopt;
  const double host = median_of(evidence, role, [](const Region& r) { return r.seconds; });
  if (device > host * (1 + kRoundingShare) + kRounding)
    return failed(
        kName, device - host, 0,
        fmt::format("regions of {} took {} by the device's clock and only {} by the host's, "
                    "which surrounds it; the fence does not wait, or the device's clock is "
                    "wrong",
                    name_of(evidence, role), duration(device), duration(host)));
  const double allowed = kLaunch + kShare * host;
  if (host - device > allowed)
    return repeatable(failed(
        kName, host - device, allowed,
        fmt::format(
            "regions of {} took {} by the host's clock and {} by the device's: {} are spent "
            "outside its dispatches; launch less in the region, or put all work on the "
            "stream that is measured",
            name_of(evidence, role), duration(host), duration(device), duration(host - device))));
  return std::nullopt;
}

bool has_outer(const Evidence& evidence, Role role) {
  return median_over_regions(evidence, role, [](const Region& r) {
           return r.outer_seconds;
         }).value_or(0) > 0;
}

}  // namespace

Finding clocks(const Evidence& evidence) {
  for (const Role role : kAllRoles) {
    if (const auto finding = device_clock(evidence, role)) return *finding;
    if (!has_outer(evidence, role)) continue;
    const double inner =
        median_over_regions(evidence, role, [](const Region& r) { return r.seconds; }).value_or(0);
    const double beyond = median_over_regions(evidence, role, [](const Region& r) {
                            return r.outer_seconds - r.seconds;
                          }).value_or(0);
    const double allowed = kHandOver + kShare * (inner + std::max(0.0, beyond));
    // A neighbour that takes a processor delays the hand-over, too: once more before it is refused.
    if (beyond > allowed)
      return repeatable(failed(
          kName, beyond, allowed,
          fmt::format("regions of {} took {} by the parent's clock and {} by the arm's own: "
                      "{} are not accounted for; work outlives its fence, or the arm's clock "
                      "is wrong",
                      name_of(evidence, role), duration(inner + beyond), duration(inner),
                      duration(beyond))));
    if (-beyond > kRounding + kRoundingShare * inner)
      return failed(
          kName, beyond, 0,
          fmt::format("regions of {} took {} by the arm's own clock and only {} by the "
                      "parent's, which surrounds it; the arm's clock is wrong",
                      name_of(evidence, role), duration(inner), duration(inner + beyond)));
  }
  return passed(kName, 0, kHandOver);
}

}  // namespace tare::judge::gates
