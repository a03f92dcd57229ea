// TRAPS C1, C3, C4, C9, C11: right in the proof, and right in the timed regions too.
#include <fmt/format.h>

#include "judge/gates/gates.h"

namespace tare::judge::gates {
namespace {

using weigh::Outputs;
using weigh::Proof;
using weigh::Role;

constexpr const char* kName = "output";

std::uint64_t expected_non_finite(const Proof& proof, Role role) {
  return role == Role::kCandidate ? proof.candidate_non_finite : proof.incumbent_non_finite;
}

// Regions of one arm that left behind other bits than the arm proved, or NaN or Inf where it proved
// none.
std::uint64_t bad_regions(const weigh::Weighing& weighing, Role role) {
  const bool may_be_non_finite = expected_non_finite(weighing.proof, role) > 0;
  std::uint64_t bad = 0;
  for (const weigh::Region& region : weighing.regions) {
    if (region.arm != role) continue;
    const bool non_finite = region.outputs == Outputs::kNonFinite && !may_be_non_finite;
    if (region.outputs == Outputs::kWrong || non_finite) ++bad;
  }
  return bad;
}

Finding refused(std::uint64_t seen, std::string sentence) {
  return failed(kName, static_cast<double>(seen), 0, std::move(sentence));
}

}  // namespace

Finding output(const Evidence& evidence) {
  const Proof& proof = evidence.weighing.proof;
  const std::string candidate = name_of(evidence, Role::kCandidate);
  if (proof.wrote_outside)
    return refused(1, fmt::format("{} wrote past an end of its output buffer; mend it before it is "
                                  "timed",
                                  candidate));
  if (proof.unwritten > 0)
    return refused(
        proof.unwritten,
        fmt::format("{} left {} of {} output elements unwritten (they kept two different "
                    "poisons); mend it before it is timed",
                    candidate, proof.unwritten, proof.elements));
  if (proof.class_mismatch > 0)
    return refused(
        proof.class_mismatch,
        fmt::format("{} of {} output elements are NaN or infinite on one side only ({} of "
                    "them in {}); mend it before it is timed",
                    proof.class_mismatch, proof.elements, proof.candidate_non_finite, candidate));
  for (const Role role : kComparedRoles) {
    const std::uint64_t bad = bad_regions(evidence.weighing, role);
    if (bad > 0)
      return refused(bad,
                     fmt::format("{} timed regions of {} left other outputs behind than the arm "
                                 "proved; it computes something else when it is timed, or races",
                                 bad, name_of(evidence, role)));
  }
  return passed(kName, 0, 0);
}

}  // namespace tare::judge::gates
