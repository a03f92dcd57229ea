// TRAPS T17: a neighbour at work. Never a refusal by itself: pairing removes what hits all arms
// alike, and the control shows what is left.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "judge/gates/gates.h"
#include "judge/order.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

constexpr const char* kName = "noise";
constexpr double kNoteworthy = 0.2;  // of one processor, or of a GPU

double elsewhere_share(const weigh::Region& region) {
  return region.elsewhere_cpu_seconds / region.seconds;
}

double others_share(const Evidence& evidence) {
  std::vector<double> shares;
  for (const weigh::DeviceState& state : evidence.weighing.device_states)
    shares.push_back(state.others_busy);
  return median(std::move(shares)).value_or(0);
}

}  // namespace

Finding noise(const Evidence& evidence) {
  if (const double others = others_share(evidence); others > kNoteworthy)
    return passed(
        kName, others, kNoteworthy,
        fmt::format("other processes used {} of the GPU's time while the row was weighed, "
                    "at the median: they and the arms take turns, and no time is a "
                    "kernel's alone, nor is a limit; end them (nvidia-smi names them) "
                    "and weigh again",
                    percent(others)));
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
