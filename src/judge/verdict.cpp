#include "judge/verdict.h"

#include <limits>

namespace tare::judge {

Bits bits_of(const weigh::Proof& proof) {
  if (!proof.done || proof.elements == 0) return Bits::kUnknown;
  return proof.differing == 0 ? Bits::kEqual : Bits::kDiffer;
}

Decision decision_of(Verdict verdict, Bits bits) {
  if (verdict != Verdict::kWin) return Decision::kKeep;
  if (bits == Bits::kEqual) return Decision::kServe;
  return bits == Bits::kDiffer ? Decision::kTrade : Decision::kKeep;
}

double break_even(double incumbent_prepare, double candidate_prepare, double incumbent_time,
                  double candidate_time) {
  if (!(candidate_prepare > incumbent_prepare)) return 0;
  if (!(candidate_time < incumbent_time)) return std::numeric_limits<double>::infinity();
  return (candidate_prepare - incumbent_prepare) / (incumbent_time - candidate_time);
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kWin:
      return "win";
    case Verdict::kLoss:
      return "loss";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kRefused:
      return "refused";
  }
  return "unknown";
}

const char* to_string(Decision decision) {
  switch (decision) {
    case Decision::kServe:
      return "serve";
    case Decision::kKeep:
      return "keep";
    case Decision::kTrade:
      return "trade";
  }
  return "unknown";
}

const char* to_string(Bits bits) {
  switch (bits) {
    case Bits::kEqual:
      return "equal";
    case Bits::kDiffer:
      return "differ";
    case Bits::kUnknown:
      return "unknown";
  }
  return "unknown";
}

const char* to_string(Bound bound) {
  switch (bound) {
    case Bound::kMemory:
      return "memory";
    case Bound::kCompute:
      return "compute";
  }
  return "unknown";
}

}  // namespace tare::judge
