// TRAPS T20: a region must be long against what an empty one measures.
#include <fmt/format.h>

#include "judge/gates/gates.h"
#include "judge/order.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "floor";

}  // namespace

Finding floor(const Evidence& evidence) {
  const double allowed = evidence.rules.floor_multiple;
  const double timer = evidence.weighing.timer_floor_seconds;
  Finding finding = passed(kName, allowed, allowed);
  if (!(timer > 0)) return finding;
  for (const Role role : kComparedRoles) {
    const auto times = evidence.blocks.arms.find(role);
    if (times == evidence.blocks.arms.end() || evidence.blocks.count() == 0) continue;
    const bool two = times->second.short_dispatches > 0;
    const auto shortest = median(two ? times->second.short_seconds : times->second.long_seconds);
    if (!shortest || *shortest / timer >= allowed) continue;
    finding =
        failed(kName, *shortest / timer, allowed,
               fmt::format("the shortest regions of {} take {}, {:.1f} times an empty one ({}); "
                           "{:.0f} times are needed: raise --traffic",
                           name_of(evidence, role), duration(*shortest), *shortest / timer,
                           duration(timer), allowed));
    finding.curable_by_traffic = true;
  }
  return finding;
}

}  // namespace tare::judge::gates
