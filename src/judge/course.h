// How the game of one placement went, block by block: for a person who asks why.
#pragma once

#include <cstddef>
#include <vector>

#include "judge/judge.h"
#include "judge/pairs.h"

namespace tare::judge {

struct Course {
  struct Look {
    std::size_t blocks = 0;
    std::size_t rounds = 0;
    // The most that the half of the game which the verdict stands on held so far, natural
    // logarithm: "faster" for a win, "slower" for a loss, the lesser of "above 1 - the equivalence"
    // and "below 1 + it" for equivalence, and the greater of "faster" and "slower" while none of
    // these is known.
    double log_evidence = 0;
  };
  Verdict verdict = Verdict::kInconclusive;  // of this placement alone
  std::vector<Look> looks;                   // after 1, 2, 4, ... blocks and after the last
  // After how many rounds (whole blocks) the evidence first sufficed; 0: never.
  std::size_t decided_after = 0;
  double doubt = 1;       // how far the control's luck of placement widens the intervals, a factor
  Correction correction;  // for the cost per region, with the doubt
};

// `placement` holds the regions of one placement (weigh::of_placement). Costs per region are those
// of the whole placement, at every look. O(rounds log rounds).
Course course_of(const weigh::Weighing& placement, const Rules& rules);

}  // namespace tare::judge
