// TRAPS T16: a ratio that moves while it is weighed is no ratio. Times that move together are
// paired away: a note.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "judge/fit.h"
#include "judge/gates/gates.h"
#include "judge/order.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "drift";
constexpr double kNoteworthy = 0.10;
constexpr std::size_t kFewestBlocks = 9;

// Median time of the last third of blocks over that of the first third, minus 1.
double change_of_time(const Blocks& blocks) {
  const auto arm = blocks.arms.find(Role::kIncumbent);
  if (arm == blocks.arms.end() || blocks.count() < kFewestBlocks) return 0;
  const std::vector<double> times = naive_times(arm->second);
  const auto third = static_cast<std::ptrdiff_t>(times.size() / 3);
  const std::optional<double> first = median({times.begin(), times.begin() + third});
  const std::optional<double> last = median({times.end() - third, times.end()});
  return first && last && *first > 0 ? *last / *first - 1 : 0;
}

}  // namespace

Finding drift(const Evidence& evidence) {
  const double change = change_of_time(evidence.blocks);
  if (evidence.candidate.moved || evidence.control.moved)
    return failed(
        kName, std::fabs(change), kNoteworthy,
        fmt::format("no constant ratio of the incumbent to {} fits all {} blocks: it moved "
                    "while it was weighed (the incumbent's time changed by {}); let the "
                    "machine settle and weigh again",
                    evidence.candidate.moved ? name_of(evidence, Role::kCandidate)
                                             : name_of(evidence, Role::kControl),
                    evidence.blocks.count(), percent(change)));
  if (std::fabs(change) > kNoteworthy)
    return passed(
        kName, std::fabs(change), kNoteworthy,
        fmt::format("the incumbent's time changed by {} from the first to the last third of "
                    "blocks; the ratio did not move with it",
                    percent(change)));
  return passed(kName, std::fabs(change), kNoteworthy);
}

}  // namespace tare::judge::gates
