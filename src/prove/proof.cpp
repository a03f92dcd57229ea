#include "prove/proof.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "prove/compare.h"
#include "prove/oracle.h"

namespace tare::prove {
namespace {

// What one arm left behind in the two runs of one slot.
struct Runs {
  std::array<ElementBuffer, 2> outputs;
  bool wrote_outside = false;
};

void run_twice(const ProvenArm& arm, std::uint64_t slot, Runs& runs) {
  for (int which = 0; which < 2; ++which) {
    const Elements output = runs.outputs[static_cast<std::size_t>(which)].all();
    poison(output, which);
    arm.run(slot, which, output);
    if (arm.wrote_outside && arm.wrote_outside()) runs.wrote_outside = true;
  }
}

// Written in both runs with other bits. An element left out in one run only is unstable, too.
std::uint64_t count_unstable(const Runs& runs, std::uint64_t unwritten) {
  return compare_bits(runs.outputs[0], runs.outputs[1]).differing - unwritten;
}

// Elements never written are NaN in the run that was poisoned with NaN; they are counted as
// unwritten, not here.
std::uint64_t count_non_finite(const Difference& first, const Difference& second,
                               std::uint64_t unwritten) {
  return std::max(first.non_finite - unwritten, second.non_finite);
}

std::uint64_t count_repeats(const std::vector<std::uint64_t>& digests) {
  return digests.size() - std::set<std::uint64_t>(digests.begin(), digests.end()).size();
}

std::set<std::uint64_t> slots_of(const ProofPlan& plan) {
  const auto drawn = draw_slots(plan.slots, plan.most_slots, plan.draw_seed);
  std::set<std::uint64_t> slots(drawn.begin(), drawn.end());
  for (const std::uint64_t slot : plan.also) {
    if (slot < plan.slots) slots.insert(slot);
  }
  return slots;
}

// The proof in hand: one slot after the other is added to it.
class Prover {
 public:
  explicit Prover(const ProofPlan& plan) : plan_(plan) {
    for (Runs* runs : {&incumbent_, &candidate_}) {
      for (ElementBuffer& output : runs->outputs)
        output = ElementBuffer(plan.problem.output, plan.problem.rows * plan.problem.n);
    }
  }

  void prove_slot(std::uint64_t slot, const ProvenArm& incumbent, const ProvenArm& candidate) {
    run_twice(incumbent, slot, incumbent_);
    run_twice(candidate, slot, candidate_);
    result_.details.slots.push_back(slot);
    add_incumbent();
    add_candidate();
    add_oracle(slot);
  }

  ProofResult finish() {
    weigh::Proof& proof = result_.proof;
    ProofDetails& details = result_.details;
    proof.incumbent_error_max = incumbent_error_.max();
    proof.incumbent_error_rms = incumbent_error_.rms();
    proof.candidate_error_max = candidate_error_.max();
    proof.candidate_error_rms = candidate_error_.rms();
    details.incumbent_repeats = count_repeats(details.incumbent_digests);
    details.candidate_repeats = count_repeats(details.candidate_digests);
    proof.done = true;
    return result_;
  }

 private:
  void add_incumbent() {
    const auto& [first, second] = incumbent_.outputs;
    const std::uint64_t unwritten = count_unwritten(first, second);
    ProofDetails& details = result_.details;
    details.incumbent_unwritten += unwritten;
    details.incumbent_unstable += count_unstable(incumbent_, unwritten);
    details.incumbent_wrote_outside |= incumbent_.wrote_outside;
    details.incumbent_digests.push_back(digest(first));
    result_.proof.incumbent_non_finite +=
        count_non_finite(compare_bits(first, first), compare_bits(first, second), unwritten);
  }

  void add_candidate() {
    const auto& [first, second] = candidate_.outputs;
    const std::uint64_t unwritten = count_unwritten(first, second);
    const Difference in_first = compare_bits(incumbent_.outputs[0], first);
    const Difference in_second = compare_bits(incumbent_.outputs[0], second);
    weigh::Proof& proof = result_.proof;
    proof.elements += in_first.elements;
    proof.differing += std::max(in_first.differing, in_second.differing);
    proof.class_mismatch += std::max(in_first.class_mismatch, in_second.class_mismatch);
    proof.max_ulp = std::max({proof.max_ulp, in_first.max_ulp, in_second.max_ulp});
    proof.candidate_non_finite += count_non_finite(in_first, in_second, unwritten);
    proof.unwritten += unwritten;
    proof.wrote_outside |= candidate_.wrote_outside;
    ProofDetails& details = result_.details;
    details.candidate_unstable += count_unstable(candidate_, unwritten);
    details.candidate_digests.push_back(digest(first));
  }

  void add_oracle(std::uint64_t slot) {
    const tare_problem& problem = plan_.problem;
    const std::vector<Element> elements =
        draw_elements(problem.rows, problem.n, plan_.oracle_elements, plan_.draw_seed + slot);
    const std::vector<double> truth = oracle(inputs_of(slot),
                                             {problem.weights, problem.k, problem.n,
                                              plan_.weight_seed, slot, Data::kUsual, problem.bias},
                                             elements);
    incumbent_error_.add(oracle_error(incumbent_.outputs[0], problem.n, elements, truth));
    candidate_error_.add(oracle_error(candidate_.outputs[0], problem.n, elements, truth));
    result_.proof.oracle_elements += elements.size();
  }

  ConstElements inputs_of(std::uint64_t slot) const {
    const ConstElements x = plan_.x(slot);
    const tare_problem& problem = plan_.problem;
    if (x.size() != problem.rows * problem.k) {
      fail(Blame::kInput,
           "proving {} rows of {} columns needs as many activations; got {} elements", problem.rows,
           problem.k, x.size());
    }
    return x;
  }

  const ProofPlan& plan_;
  Runs incumbent_;
  Runs candidate_;
  ErrorSum incumbent_error_;
  ErrorSum candidate_error_;
  ProofResult result_;
};

}  // namespace

std::vector<std::uint64_t> draw_slots(std::uint64_t slots, std::uint64_t most, std::uint64_t seed) {
  std::set<std::uint64_t> drawn;
  if (slots <= most) {
    for (std::uint64_t slot = 0; slot < slots; ++slot) drawn.insert(slot);
  } else {
    drawn = {0, slots - 1};
    std::mt19937_64 random(seed);
    while (drawn.size() < most) drawn.insert(random() % slots);
  }
  return {drawn.begin(), drawn.end()};
}

std::vector<std::uint64_t> differing_slots(std::span<const std::uint64_t> incumbent,
                                           std::span<const std::uint64_t> candidate) {
  std::vector<std::uint64_t> differing;
  for (std::size_t slot = 0; slot < std::min(incumbent.size(), candidate.size()); ++slot) {
    if (incumbent[slot] != candidate[slot]) differing.push_back(slot);
  }
  return differing;
}

void add(weigh::Proof& sum, const weigh::Proof& more) {
  const auto pool = [&](double& rms, double other) {
    const auto n = static_cast<double>(sum.oracle_elements);
    const auto m = static_cast<double>(more.oracle_elements);
    if (n + m > 0) rms = std::sqrt((n * rms * rms + m * other * other) / (n + m));
  };
  pool(sum.incumbent_error_rms, more.incumbent_error_rms);
  pool(sum.candidate_error_rms, more.candidate_error_rms);
  sum.oracle_elements += more.oracle_elements;
  sum.incumbent_error_max = std::max(sum.incumbent_error_max, more.incumbent_error_max);
  sum.candidate_error_max = std::max(sum.candidate_error_max, more.candidate_error_max);
  sum.elements += more.elements;
  sum.differing += more.differing;
  sum.class_mismatch += more.class_mismatch;
  sum.candidate_non_finite += more.candidate_non_finite;
  sum.incumbent_non_finite += more.incumbent_non_finite;
  sum.unwritten += more.unwritten;
  sum.max_ulp = std::max(sum.max_ulp, more.max_ulp);
  sum.wrote_outside |= more.wrote_outside;
}

ProofResult prove(const ProofPlan& plan, const ProvenArm& incumbent, const ProvenArm& candidate) {
  Prover prover(plan);
  for (const std::uint64_t slot : slots_of(plan)) {
    prover.prove_slot(slot, incumbent, candidate);
  }
  return prover.finish();
}

}  // namespace tare::prove
