#include "judge/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tare::judge {
namespace {

// An rms of N errors is known to 1 / sqrt(2 N) of it, the quotient of two to 1 / sqrt(N) at most
// (less where the arms err alike): three of these.
constexpr double kRmsErrors = 3;
// The largest of thousands of errors moves from draw to draw by some 5 % (1 / (2 ln N) of it), and
// where an exact sum lies between two outputs, another order of adding may round it the other way:
// errors of 0.5 and 0.5 + a trifle. On probes that cancel the trifle was computed to be 0.07 steps
// (k = 12288).
constexpr double kMaxErrors = 1.25;
constexpr double kPerfectMax = 0.5;  // of one rounding to nearest

Bits rows_equal(const weigh::RowProof& rows, weigh::Role against) {
  if (rows.elements == 0 || rows.against != against) return Bits::kUnknown;
  const bool equal = rows.by_count + rows.by_position + rows.by_neighbours == 0;
  return equal ? Bits::kEqual : Bits::kDiffer;
}

Bits bounded(const weigh::Proof& proof) {
  if (!proof.done || proof.oracle_elements == 0) return Bits::kUnknown;
  const ErrorBound bound = not_worse(proof);
  // Written so that a NaN fails.
  const bool within = proof.candidate_error_max <= bound.max &&
                      proof.candidate_error_rms <= bound.rms && proof.class_mismatch == 0;
  return within ? Bits::kEqual : Bits::kDiffer;
}

}  // namespace

ErrorBound not_worse(const weigh::Proof& proof) {
  const auto elements = static_cast<double>(std::max<std::uint64_t>(1, proof.oracle_elements));
  return {kMaxErrors * std::max(kPerfectMax, proof.incumbent_error_max),
          proof.incumbent_error_rms * (1 + kRmsErrors / std::sqrt(elements))};
}

Bits equality_of(const weigh::Proof& proof, Equality asked) {
  switch (asked) {
    case Equality::kIncumbent:
      return bits_of(proof);
    case Equality::kOneRow:
      return rows_equal(proof.rows, weigh::Role::kIncumbent);
    case Equality::kSelf:
      return rows_equal(proof.rows, weigh::Role::kCandidate);
    case Equality::kBounded:
      return bounded(proof);
  }
  return Bits::kUnknown;
}

Bits bits_of(const weigh::Proof& proof) {
  if (!proof.done || proof.elements == 0) return Bits::kUnknown;
  return proof.differing == 0 ? Bits::kEqual : Bits::kDiffer;
}

Decision decision_of(Verdict verdict, Bits equality) {
  if (verdict != Verdict::kWin) return Decision::kKeep;
  if (equality == Bits::kEqual) return Decision::kServe;
  return equality == Bits::kDiffer ? Decision::kTrade : Decision::kKeep;
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

const char* to_string(Equality equality) {
  switch (equality) {
    case Equality::kIncumbent:
      return "incumbent";
    case Equality::kOneRow:
      return "one-row";
    case Equality::kSelf:
      return "self";
    case Equality::kBounded:
      return "bounded";
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
