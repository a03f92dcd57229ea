// TRAPS T21, C2: an arm that sums in a narrower type, or is plainly wrong, computes another
// problem.
#include <fmt/format.h>

#include <algorithm>

#include "judge/gates/gates.h"

namespace tare::judge::gates {
namespace {

constexpr const char* kName = "precision";
// Rounding once to nearest gives errors of at most 0.5 step, 0.29 (1 / sqrt 12) rms. Sums in f32
// add next to nothing in bf16 steps whatever their order; sums in bf16, or partial sums rounded to
// it, give several steps.
constexpr double kPerfectMax = 0.5;
constexpr double kPerfectRms = 0.29;
constexpr double kAllowedMax = 4;  // times the incumbent's, at least the perfect one's
constexpr double kAllowedRms = 2;

}  // namespace

Finding precision(const Evidence& evidence) {
  const weigh::Proof& proof = evidence.weighing.proof;
  if (!proof.done || proof.oracle_elements == 0)
    return passed(kName, 0, 0, "outputs were not compared with the fp64 oracle");
  const double allowed_rms = kAllowedRms * std::max(proof.incumbent_error_rms, kPerfectRms);
  const double allowed_max = kAllowedMax * std::max(proof.incumbent_error_max, kPerfectMax);
  // Written so that a NaN fails.
  const bool close =
      proof.candidate_error_rms <= allowed_rms && proof.candidate_error_max <= allowed_max;
  if (close) return passed(kName, proof.candidate_error_rms, allowed_rms);
  return failed(
      kName, proof.candidate_error_rms, allowed_rms,
      fmt::format(
          "{} is {:.3g} bf16 steps rms (at most {:.3g}) from the fp64 oracle, the incumbent "
          "{:.3g} (at most {:.3g}): it is wrong, or computes in another precision than the "
          "problem's",
          name_of(evidence, weigh::Role::kCandidate), proof.candidate_error_rms,
          proof.candidate_error_max, proof.incumbent_error_rms, proof.incumbent_error_max));
}

}  // namespace tare::judge::gates
