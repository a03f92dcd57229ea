// The comparison that stays valid while it is watched: bets on which arm of a round is which.
//
// Under the hypothesis that the candidate's time is the incumbent's divided by r, the times of a
// round, the candidate's multiplied by r, are exchangeable among the arms: their order was drawn at
// random. For any score z of the arms in a round (or in a unit of several rounds) the bet
//     e(l) = exp(l z_candidate) / mean over the arms of exp(l z_arm)
// then has mean 1 given all that came before, whatever the autocorrelation. The product of such
// bets is a capital that reaches 1 / alpha with probability alpha at most, however often one looks
// (Ville). Three scores and several stakes l, averaged, are still one fair game:
//   ranks of all regions of a unit; the least of a unit; single regions.
// Half of the capital bets on "slower" (l > 0), half on "faster". A larger r makes the candidate
// look slower in every score, so the first half grows with r and the second shrinks: ratios
// excluded from above and from below are half-lines, and what neither ever excluded is an interval.
// docs/how-sure.md has the reasons, the choice of scores and stakes, and what was tried.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "judge/judge.h"
#include "judge/running_median.h"

namespace tare::judge {

// One region of every arm, in random order, seconds per dispatch, all above zero and finite. The
// control is the incumbent again; NaN where none was weighed (in all rounds of one comparison).
struct Round {
  double incumbent = 0;
  double control = 0;
  double candidate = 0;
};

class Mix {
 public:
  static constexpr std::size_t kRoundsPerUnit = 5;

  // Amortised O(log rounds). A comparison has rounds with a control or rounds without, not both.
  void add(const Round& round);

  std::size_t rounds() const { return rounds_.size(); }

  // Natural logarithms of what either half of the game against "incumbent / candidate =
  // exp(log_ratio)" holds. It starts with a half, so that both together hold 1. Looked at after
  // every whole unit: in the midst of one, the bets on whole units lag behind, and one who stops
  // there chooses which of them to leave out. O(rounds).
  struct Half {
    double now = 0;   // half of an e-value: its mean is a half at most whenever one stops
    double most = 0;  // that it ever held: what excludes a ratio
  };
  struct LogEvidence {
    Half ratio_is_lower;   // the candidate is slower than that; grows with log_ratio
    Half ratio_is_higher;  // it is faster; shrinks with log_ratio
  };
  LogEvidence log_evidence(double log_ratio) const;

  // The logarithms of the ratios that were never excluded at level alpha: [-infinity, infinity]
  // before anything can be. `moved`: none survived; the interval then is what lies between.
  struct LogSet {
    Interval interval;
    bool moved = false;
  };
  LogSet surviving(double alpha) const;

  // Hodges-Lehmann estimate of log(incumbent / candidate): the median over all pairs of a region of
  // an incumbent and one of the candidate in one unit; 0 without rounds. The ratio against which
  // the ranks have nothing to say.
  double log_estimate() const;

 private:
  static constexpr std::size_t kMostArms = 3;
  using Logs = std::array<double, kMostArms>;  // of the arms; the candidate is the last one in use

  struct Scored {
    Logs logs{};
    double scale = 0;  // known before this one was seen
  };

  // What is typical of the spread between equal arms, from the rounds before: the unit in which
  // scores count. Depends on no hypothesis, so that it is computed once.
  struct Scale {
    RunningMedian spreads;
    RunningMedian ratios;  // log ratios seen, for spreads without a control
    double value() const;  // 0 while too few were seen to bet
  };

  void note(const Logs& logs, Scale& scale) const;
  void close_unit();

  std::size_t arms_ = 0;
  std::vector<Scored> rounds_;
  std::vector<Scored> units_;  // the least time of every arm in a unit
  Scale round_scale_, unit_scale_;
};

}  // namespace tare::judge
