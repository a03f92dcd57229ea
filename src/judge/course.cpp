#include "judge/course.h"

#include <algorithm>
#include <cmath>

#include "judge/evidence.h"

namespace tare::judge {
namespace {

using weigh::Role;

// The first blocks of a placement: what was known when it was looked at after them.
Blocks first(const Blocks& blocks, std::size_t count) {
  Blocks part;
  part.numbers.assign(blocks.numbers.begin(),
                      blocks.numbers.begin() + static_cast<std::ptrdiff_t>(count));
  for (const auto& [role, times] : blocks.arms) {
    part.arms[role].round_dispatches = times.round_dispatches;
    part.arms[role].round_seconds.assign(
        times.round_seconds.begin(),
        times.round_seconds.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return part;
}

class Watcher {
 public:
  explicit Watcher(const Evidence& evidence) : evidence_(evidence) {}

  Course::Look look(std::size_t blocks) const {
    const Mix rounds = rounds_of(first(evidence_.blocks, blocks), Role::kCandidate, evidence_.seed);
    return {blocks, rounds.rounds(), evidence_in(rounds)};
  }

 private:
  double evidence_in(const Mix& rounds) const {
    const auto above = [&](double ratio) {
      return evidence_above(rounds, evidence_.correction, ratio);
    };
    const auto below = [&](double ratio) {
      return evidence_below(rounds, evidence_.correction, ratio);
    };
    const double equivalence = evidence_.rules.equivalence;
    switch (evidence_.candidate.verdict) {
      case Verdict::kWin:
        return above(1);
      case Verdict::kLoss:
        return below(1);
      case Verdict::kEquivalent:
        return std::min(above(1 - equivalence), below(1 + equivalence));
      default:
        return std::max(above(1), below(1));
    }
  }

  const Evidence& evidence_;
};

// The evidence never falls, so the first look at which it suffices is found by halving.
std::size_t blocks_until_enough(const Watcher& watcher, std::size_t blocks, double enough) {
  std::size_t too_few = 0, suffices = blocks;
  while (suffices - too_few > 1) {
    const std::size_t middle = (too_few + suffices) / 2;
    (watcher.look(middle).log_evidence >= enough ? suffices : too_few) = middle;
  }
  return suffices;
}

}  // namespace

Course course_of(const weigh::Weighing& placement, const Rules& rules) {
  const Evidence evidence = gather(placement, rules);
  Course course;
  course.verdict = evidence.candidate.verdict;
  course.doubt = evidence.doubt;
  course.correction = evidence.correction;
  const std::size_t blocks = evidence.blocks.count();
  if (blocks == 0) return course;
  const Watcher watcher(evidence);
  for (std::size_t count = 1; count < blocks; count *= 2) {
    course.looks.push_back(watcher.look(count));
  }
  course.looks.push_back(watcher.look(blocks));
  const double enough = -std::log(rules.verdict_alpha);
  if (course.looks.back().log_evidence >= enough) {
    course.decided_after = watcher.look(blocks_until_enough(watcher, blocks, enough)).rounds;
  }
  return course;
}

}  // namespace tare::judge
