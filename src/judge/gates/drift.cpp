// TRAPS T16: a ratio that moves while it is weighed, or while a device is slowed down, is no ratio.
// Times that move together are paired away: a note.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "judge/fit.h"
#include "judge/gates/gates.h"
#include "judge/order.h"
#include "judge/pairs.h"
#include "judge/throttle.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "drift";
constexpr double kNoteworthy = 0.10;
constexpr std::size_t kFewestBlocks = 9;

// Median time of the last third of blocks over that of the first third, minus 1; none where a third
// is too few blocks for that.
std::optional<double> change_of_time(const Blocks& blocks) {
  const auto arm = blocks.arms.find(Role::kIncumbent);
  if (arm == blocks.arms.end() || blocks.count() < kFewestBlocks) return {};
  const std::vector<double> times = block_times(arm->second, 0);
  const auto third = static_cast<std::ptrdiff_t>(times.size() / 3);
  const std::optional<double> first = median({times.begin(), times.begin() + third});
  const std::optional<double> last = median({times.end() - third, times.end()});
  if (!first || !last || *first <= 0) return {};
  return *last / *first - 1;
}

// Whether the second half of the blocks excludes every ratio that the first half allows. The game
// over all blocks would cross at last, but long after: the first half holds its sums back, and
// where an arm that slows by 1 % a region is a loss after eight blocks, nothing has crossed yet.
bool halves_differ(const Evidence& evidence, Role role) {
  const std::size_t count = evidence.blocks.count();
  const auto interval = [&](std::size_t first, std::size_t last) {
    return rounds_of(evidence.blocks, role, evidence.seed, first, last)
        .surviving(evidence.rules.verdict_alpha)
        .interval;
  };
  const Interval first = interval(0, count / 2), second = interval(count / 2, count);
  return second.low > first.high || second.high < first.low;
}

bool moved(const Evidence& evidence, Role role, const Comparison& comparison) {
  return comparison.moved || halves_differ(evidence, role);
}

std::string throttled_sentence(const Evidence& evidence, const Throttling& found) {
  return fmt::format(
      "the device was slowed down in {} of {} blocks ({} to {} MHz), and the ratio of the "
      "incumbent "
      "to {} is another there; let the device cool, or weigh where nobody else heats it",
      found.slowed, evidence.blocks.count(), found.lowest, found.highest,
      name_of(evidence, found.role));
}

}  // namespace

Finding drift(const Evidence& evidence) {
  const std::optional<double> known_change = change_of_time(evidence.blocks);
  const double change = known_change.value_or(0);
  if (const auto found = throttling(evidence))
    return repeatable(
        failed(kName, std::fabs(change), kNoteworthy, throttled_sentence(evidence, *found)));
  const bool candidate_moved = moved(evidence, Role::kCandidate, evidence.candidate);
  if (candidate_moved || moved(evidence, Role::kControl, evidence.control))
    return repeatable(failed(
        kName, std::fabs(change), kNoteworthy,
        fmt::format("no constant ratio of the incumbent to {} fits all {} blocks: it moved "
                    "while it was weighed{}; let the machine settle and weigh again",
                    candidate_moved ? name_of(evidence, Role::kCandidate)
                                    : name_of(evidence, Role::kControl),
                    evidence.blocks.count(),
                    known_change
                        ? fmt::format(" (the incumbent's time changed by {})", percent(change))
                        : "")));
  if (std::fabs(change) > kNoteworthy)
    return passed(
        kName, std::fabs(change), kNoteworthy,
        fmt::format("the incumbent's time changed by {} from the first to the last third of "
                    "blocks; the ratio did not move with it",
                    percent(change)));
  return passed(kName, std::fabs(change), kNoteworthy);
}

}  // namespace tare::judge::gates
