#include "judge/judge.h"

#include <algorithm>

#include "judge/evidence.h"
#include "judge/gates/gates.h"
#include "judge/verdict.h"

namespace tare::judge {
namespace {

using weigh::Role;

double time_of(const Evidence& evidence, Role role) {
  const auto found = evidence.fits.find(role);
  return found == evidence.fits.end() ? 0 : std::max(0.0, found->second.per_dispatch);
}

double naive_time_of(const Evidence& evidence, Role role) {
  const auto found = evidence.fits.find(role);
  return found == evidence.fits.end() ? 0 : found->second.naive_per_dispatch;
}

double quotient(double dividend, double divisor) {
  return divisor > 0 ? dividend / divisor : 0;
}

void measure_limits(const Evidence& evidence, Judgement& judgement) {
  const double stream = time_of(evidence, Role::kStream);
  const double peak = time_of(evidence, Role::kPeak);
  const double bytes = weigh::weight_bytes(evidence.weighing.problem);
  judgement.limit_seconds = std::max(stream, peak);
  judgement.bound = peak > stream ? Bound::kCompute : Bound::kMemory;
  judgement.stream_bytes_per_second = quotient(bytes, stream);
  judgement.peak_operations_per_second =
      quotient(weigh::operations(evidence.weighing.problem), peak);
  judgement.incumbent_gbps = quotient(bytes, time_of(evidence, Role::kIncumbent)) / 1e9;
  judgement.candidate_gbps = quotient(bytes, time_of(evidence, Role::kCandidate)) / 1e9;
  judgement.gap = quotient(time_of(evidence, Role::kIncumbent), judgement.limit_seconds);
}

void measure_ratios(const Evidence& evidence, Judgement& judgement) {
  judgement.ratio = evidence.candidate.ratio;
  judgement.interval = evidence.candidate.interval;
  judgement.verdict_interval = evidence.candidate.verdict_interval;
  judgement.control_ratio = evidence.control.ratio;
  judgement.control_interval = evidence.control.interval;
  judgement.naive_ratio = quotient(naive_time_of(evidence, Role::kIncumbent),
                                   naive_time_of(evidence, Role::kCandidate));
  const weigh::Arm* incumbent = arm_of(evidence.weighing, Role::kIncumbent);
  const weigh::Arm* candidate = arm_of(evidence.weighing, Role::kCandidate);
  if (incumbent != nullptr && candidate != nullptr)
    judgement.break_even_dispatches =
        break_even(incumbent->prepare_seconds, candidate->prepare_seconds,
                   time_of(evidence, Role::kIncumbent), time_of(evidence, Role::kCandidate));
}

void refuse(Judgement& judgement, const std::string& cause, const std::string& sentence) {
  judgement.verdict = Verdict::kRefused;
  judgement.cause = cause;
  judgement.cause_sentence = sentence;
}

// The first gate that failed is the cause: gates stand in the order in which a person would mend
// things.
void apply_gates(Judgement& judgement) {
  const auto failed = std::find_if(judgement.gates.begin(), judgement.gates.end(),
                                   [](const Finding& finding) { return !finding.passed; });
  if (failed != judgement.gates.end()) refuse(judgement, failed->gate, failed->sentence);
}

}  // namespace

Judgement judge(const weigh::Weighing& weighing, const Rules& rules) {
  const Evidence evidence = gather(weighing, rules);
  Judgement judgement;
  judgement.fits = evidence.fits;
  judgement.blocks = static_cast<std::uint32_t>(evidence.blocks.count());
  judgement.bits = bits_of(weighing.proof);
  measure_limits(evidence, judgement);
  measure_ratios(evidence, judgement);
  judgement.verdict = verdict_of(judgement.verdict_interval, rules.equivalence);
  judgement.gates = gates::check_all(evidence);
  apply_gates(judgement);
  if (weighing.failure) refuse(judgement, "failed", *weighing.failure);
  judgement.decision = decision_of(judgement.verdict, judgement.bits);
  return judgement;
}

bool decided(const weigh::Weighing& weighing, const Rules& rules) {
  const Blocks blocks = arrange(weighing);
  if (blocks.count() < rules.least_blocks) return false;
  const Comparison control = control_comparison(blocks, weighing.seed, rules);
  const Comparison candidate = candidate_comparison(blocks, control, weighing.seed, rules);
  return verdict_of(candidate.verdict_interval, rules.equivalence) != Verdict::kInconclusive;
}

}  // namespace tare::judge
