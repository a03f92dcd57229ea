// TRAPS T35: idle threads of one library that spin while another library's region runs.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Region;
using weigh::Role;

constexpr const char* kName = "awake";
constexpr double kAllowedShare = 0.02;
// Going to sleep after the last region costs a thread some microseconds of the next one.
constexpr double kFallingAsleep = 50e-6;

double others_share(const Region& region) {
  return region.others_cpu_seconds / region.seconds;
}

// Processors that the others may use while an arm runs. An arm on a device needs one, for the
// thread that launches; the free ones cost it nothing. MLX's commits on CUDA interrupt, and wake a
// thread of the driver in every process that has a context: 0.15 to 1.3 processors on an H200's
// host of 16.
double allowed_processors(const Evidence& evidence, Role role) {
  const weigh::Arm* arm = weigh::arm_of(evidence.weighing, role);
  if (arm == nullptr || arm->dispatched.threads != 0) return kAllowedShare;
  const double busy = median_over_regions(evidence, role, [](const Region& r) {
                        return r.cpu_seconds / r.seconds;
                      }).value_or(1);
  return std::max(kAllowedShare, arm->threads_offered - 1 - busy);
}

bool disturbed(const Evidence& evidence, Role role) {
  const double allowed = allowed_processors(evidence, role);
  const auto beyond = median_over_regions(evidence, role, [allowed](const Region& r) {
    return r.others_cpu_seconds - kFallingAsleep - allowed * r.seconds;
  });
  return beyond.value_or(0) > 0;
}

// The arms in whose own regions the others were quiet: the one that spins does not disturb itself.
std::string suspects(const Evidence& evidence) {
  std::vector<std::string> quiet;
  for (const Role role : kAllRoles)
    if (evidence.blocks.long_regions.contains(role) && !disturbed(evidence, role))
      quiet.push_back(name_of(evidence, role));
  if (quiet.empty()) return "several arms do";
  return fmt::format("it is quiet only in regions of {}", fmt::join(quiet, ", "));
}

}  // namespace

Finding awake(const Evidence& evidence) {
  double worst = 0;
  for (const Role role : kAllRoles) {
    const double share = median_over_regions(evidence, role, others_share).value_or(0);
    if (disturbed(evidence, role))
      return repeatable(
          failed(kName, share, kAllowedShare,
                 fmt::format("while {} ran, other arms used {} of a processor at the median: their "
                             "idle threads spin ({}); make them sleep when idle "
                             "(OMP_WAIT_POLICY=passive, KMP_BLOCKTIME=0)",
                             name_of(evidence, role), percent(share), suspects(evidence))));
    worst = std::max(worst, share);
  }
  return passed(kName, worst, kAllowedShare);
}

}  // namespace tare::judge::gates
