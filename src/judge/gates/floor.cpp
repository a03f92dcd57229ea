// TRAPS T20: a region must be long against what an empty one measures.
#include <fmt/format.h>

#include "judge/fit.h"
#include "judge/gates/gates.h"
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
    const double rounds = round_region_seconds(times->second);
    if (!(rounds > 0) || rounds / timer >= allowed) continue;
    finding =
        failed(kName, rounds / timer, allowed,
               fmt::format("the shortest regions of {} take {}, {:.1f} times an empty one ({}); "
                           "{:.0f} times are needed: raise --traffic",
                           name_of(evidence, role), duration(rounds), rounds / timer,
                           duration(timer), allowed));
    finding.curable_by_traffic = true;
  }
  return finding;
}

}  // namespace tare::judge::gates
