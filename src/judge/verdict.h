// From verdict and proof to what to do.
#pragma once

#include "judge/judge.h"

namespace tare::judge {

Bits bits_of(const weigh::Proof& proof);

// Serve only a win with the incumbent's bits; a win with other bits is a trade for a person to
// make; keep otherwise.
Decision decision_of(Verdict verdict, Bits bits);

// After how many dispatches dearer preparing (seconds) has paid for itself; see Judgement.
double break_even(double incumbent_prepare, double candidate_prepare, double incumbent_time,
                  double candidate_time);

}  // namespace tare::judge
