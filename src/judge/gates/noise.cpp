// TRAPS T17: a neighbour at work. Never a refusal by itself: pairing removes what hits all arms
// alike, and the control shows what is left.
#include <fmt/format.h>

#include <algorithm>

#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

constexpr const char* kName = "noise";
constexpr double kNoteworthy = 0.2;  // of one processor

double elsewhere_share(const weigh::Region& region) {
  return region.elsewhere_cpu_seconds / region.seconds;
}

}  // namespace

Finding noise(const Evidence& evidence) {
  double worst = 0;
  for (const weigh::Role role : kComparedRoles)
    worst = std::max(worst, median_over_regions(evidence, role, elsewhere_share).value_or(0));
  if (worst <= kNoteworthy) return passed(kName, worst, kNoteworthy);
  return passed(
      kName, worst, kNoteworthy,
      fmt::format("something else used {} of a processor while regions ran, at the median; "
                  "intervals are wider for it: stop it for a surer answer",
                  percent(worst)));
}

}  // namespace tare::judge::gates
