#include "plan/decide.h"

#include <fmt/format.h>

#include <cstring>

#include "judge/verdict.h"

namespace tare::plan {
namespace {

using judge::Bits;
using judge::Verdict;
using weigh::Role;

template <std::size_t Size>
std::string text_of(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

Side side_of(const weigh::Weighing& weighing, Role role) {
  const weigh::Arm* arm = weigh::arm_of(weighing, role);
  if (arm == nullptr) return {};
  return {arm->name, arm->title, text_of(arm->dispatched.kernel), text_of(arm->dispatched.library)};
}

// Every output written, where it belongs, and a number where the incumbent's is one.
bool is_sound(const weigh::Proof& proof) {
  return proof.done && proof.class_mismatch == 0 && proof.unwritten == 0 && !proof.wrote_outside &&
         proof.candidate_non_finite == proof.incumbent_non_finite;
}

// Why outputs that were proved are not as equal as was asked for.
std::string inequality(const weigh::Proof& proof, judge::Equality asked) {
  const judge::ErrorBound bound = judge::not_worse(proof);
  switch (asked) {
    case judge::Equality::kIncumbent:
      return fmt::format("its bits differ from the incumbent's in {} of {} outputs",
                         proof.differing, proof.elements);
    case judge::Equality::kBounded:
      return fmt::format(
          "its errors against fp64 are larger than the incumbent's: worst {:.3g} steps of bf16, "
          "where {:.3g} is no worse, rms {:.3g}, where {:.3g} is",
          proof.candidate_error_max, bound.max, proof.candidate_error_rms, bound.rms);
    default:
      return fmt::format("its rows are not as '{}' asks", judge::to_string(asked));
  }
}

std::string reason_to_keep(const judge::Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::kLoss:
      return fmt::format("the candidate is slower: {:.3f}x", judgement.ratio);
    case Verdict::kEquivalent:
      return "the two are equally fast";
    case Verdict::kRefused:
      return fmt::format("no verdict is believed: {}", judgement.cause_sentence);
    default:
      return "which of the two is faster was not decided";
  }
}

double seconds_of(const judge::Judgement& judgement, Role role) {
  const auto fit = judgement.fits.find(role);
  return fit == judgement.fits.end() ? 0 : fit->second.per_dispatch;
}

// What is to be done, and why not more.
struct Conclusion {
  judge::Decision decision = judge::Decision::kKeep;
  std::string reason;
};
Conclusion conclude(const report::Row& row, judge::Equality asked, bool stands,
                    DispatchWins dispatch_wins) {
  using judge::Decision;
  const weigh::Proof& proof = row.weighing.proof;
  if (row.judgement.verdict != Verdict::kWin)
    return {Decision::kKeep, reason_to_keep(row.judgement)};
  if (row.judgement.dispatch_win && dispatch_wins == DispatchWins::kKeep)
    return {Decision::kKeep,
            "it wins, but most of the gain is a cost per dispatch, not time per byte of weights "
            "(--serve-dispatch-wins)"};
  if (!stands)
    return {Decision::kKeep, "it wins, but among so many rows a win by luck is not excluded"};
  const Bits equality = is_sound(proof) ? judge::equality_of(proof, asked) : Bits::kUnknown;
  if (equality == Bits::kUnknown)
    return {Decision::kKeep, "it wins, but its outputs were not proved"};
  if (equality == Bits::kDiffer)
    return {Decision::kTrade, "it wins, but " + inequality(proof, asked)};
  return {Decision::kServe, ""};
}

}  // namespace

Decision decide(const report::Row& row, judge::Equality asked, bool stands,
                DispatchWins dispatch_wins) {
  const judge::Judgement& judgement = row.judgement;
  const weigh::Weighing& weighing = row.weighing;
  Decision decision;
  decision.model = row.model;
  decision.projection = row.projection;
  decision.problem = weighing.problem;
  decision.equality = asked;
  decision.verdict = judgement.verdict;
  decision.cause = judgement.cause;
  decision.ratio = judgement.ratio;
  decision.interval = judgement.interval;
  decision.bits = judgement.bits;
  decision.incumbent = side_of(weighing, Role::kIncumbent);
  decision.candidate = side_of(weighing, Role::kCandidate);
  decision.mode = weighing.mode;
  decision.residency = weighing.residency;
  decision.incumbent_seconds = seconds_of(judgement, Role::kIncumbent);
  decision.candidate_seconds = seconds_of(judgement, Role::kCandidate);
  if (const weigh::Arm* arm = weigh::arm_of(weighing, Role::kCandidate))
    decision.prepared_bytes = arm->prepared_bytes;
  const Conclusion conclusion = conclude(row, asked, stands, dispatch_wins);
  decision.decision = conclusion.decision;
  decision.reason = conclusion.reason;
  return decision;
}

}  // namespace tare::plan
