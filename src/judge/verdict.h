// From verdict and proof to what to do.
#pragma once

#include "judge/judge.h"

namespace tare::judge {

// Against the incumbent's.
Bits bits_of(const weigh::Proof& proof);

// Whether the outputs are as equal as was asked for; unknown where it was not looked at.
Bits equality_of(const weigh::Proof& proof, Equality asked);

// The largest errors against fp64, in steps of the output's type, that are not worse than the
// incumbent's in `proof`. Both arms are looked at on the same drawn elements, so each bound leaves
// room for the draw alone.
struct ErrorBound {
  double max = 0;
  double rms = 0;
};
ErrorBound not_worse(const weigh::Proof& proof);

// Serve only a win that is as equal as asked for; a win that is not is a trade for a person to
// make; keep otherwise.
Decision decision_of(Verdict verdict, Bits equality);

// After how many dispatches dearer preparing (seconds) has paid for itself; see Judgement.
double break_even(double incumbent_prepare, double candidate_prepare, double incumbent_time,
                  double candidate_time);

}  // namespace tare::judge
