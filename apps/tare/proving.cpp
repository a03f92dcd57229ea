#include "proving.h"

#include <algorithm>

#include "base/error.h"
#include "base/splitmix.h"
#include "prove/compare.h"
#include "prove/proof.h"
#include "prove/weights.h"

namespace tare::app {
namespace {

constexpr std::uint64_t kProvenSlots = 8;  // drawn; each runs twice in both arms
// Slots beside those drawn whose digests differ; an arm of other bits differs everywhere, and a
// sample tells as much.
constexpr std::size_t kMostDifferingSlots = 8;
constexpr std::uint64_t kFreshSlots = 2;           // that run again with other inputs
constexpr std::size_t kOracleElementsOfRing = 16;  // of each of hundreds of slots
constexpr std::uint64_t kCancelledSums = 24;  // each tells two orders apart in every other case

}  // namespace

weigh::Proof Proving::prove(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                            std::uint64_t seed, std::size_t oracle_elements) {
  weigh::Proof proof =
      prove_slots(incumbent, candidate, {incumbent.slots, kProvenSlots, oracle_elements}, seed);
  // An arm that remembers results by their pointers hands out those of the values before (TRAPS
  // T10, T32).
  stage_.fill_inputs(seed ^ kSplitMixStep);
  prove::add(proof, prove_slots(incumbent, candidate,
                                {incumbent.slots, kFreshSlots, oracle_elements}, seed));
  if (problem_.k > 1) {
    probe_sums(incumbent, candidate, proof);
    probe_order(incumbent, candidate, proof);
  }
  if (problem_.rows > 1) check_neighbours(incumbent, candidate, proof);
  stage_.fill_inputs(seed);
  return proof;
}

weigh::Proof Proving::prove_ring(const weigh::Contestant& incumbent,
                                 const weigh::Contestant& candidate, std::uint64_t seed) {
  return prove_slots(incumbent, candidate,
                     {incumbent.slots, incumbent.slots, kOracleElementsOfRing}, seed);
}

weigh::Proof Proving::prove_slots(const weigh::Contestant& incumbent,
                                  const weigh::Contestant& candidate, const Sample& sample,
                                  std::uint64_t seed) {
  bool breached = false;
  const auto proven = [&](const weigh::Contestant& contestant) {
    prove::ProvenArm arm;
    arm.run = [this, &contestant, &breached](std::uint64_t slot, int which, prove::Elements into) {
      // Into the last output: behind it lies the widest guard, so that a write far past the end is
      // seen, too.
      const std::uint32_t last = stage_.outputs() - 1;
      prove::poison(stage_.output(last), which);
      run(contestant, slot, last, 1);
      breached = stage_.take_breach().has_value();
      gather(contestant, stage_.output(last).first(into.size()), into);
    };
    arm.wrote_outside = [&breached] { return breached; };
    return arm;
  };
  prove::ProofPlan plan;
  plan.problem = problem_;
  plan.slots = sample.slots;
  plan.most_slots = sample.most;
  plan.also = prove::differing_slots(incumbent.digests, candidate.digests);
  plan.also.resize(std::min(plan.also.size(), kMostDifferingSlots));
  plan.weight_seed = weight_seed_;
  plan.x = [this](std::uint64_t slot) { return stage_.input(slot); };
  plan.oracle_elements = sample.oracle_elements;
  plan.draw_seed = seed;
  return prove::prove(plan, proven(incumbent), proven(candidate)).proof;
}

// Rounded partial sums may cancel by luck: several rests, at the corners of the output, which the
// oracle always looks at.
void Proving::probe_sums(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                         weigh::Proof& proof) {
  for (const prove::Parts parts : {prove::Parts::kHalves, prove::Parts::kAlternating})
    for (const std::uint64_t column : {std::uint64_t{0}, problem_.n - 1})
      for (const float rest : {0.02F, 0.031F, 0.047F}) {
        write_probe(column, parts, rest);
        prove::add(proof, prove_slots(incumbent, candidate, {}, column));
      }
}

void Proving::write_probe(std::uint64_t column, prove::Parts parts, float rest) {
  const std::vector<double> weights = column_weights(column);
  for (std::uint32_t row = 0; row < problem_.rows; ++row)
    prove::cancelling_row(weights, parts, rest, input_row(row));
}

std::vector<double> Proving::column_weights(std::uint64_t column) const {
  std::vector<double> weights;
  prove::generate_row({problem_.weights, problem_.k, problem_.n, weight_seed_, 0}, column, weights);
  return weights;
}

prove::Elements Proving::input_row(std::uint32_t row) {
  return stage_.writable_input(0).subspan(row * problem_.k, problem_.k);
}

// Sums of other orders differ in one bf16 output of thousands, and in every other one where all but
// the last bits cancel: of each row in one output. Bits alone are compared: what is left of such a
// sum is no measure of an error.
void Proving::probe_order(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                          weigh::Proof& proof) {
  for (std::uint64_t sum = 0; sum < kCancelledSums; sum += problem_.rows) {
    for (std::uint32_t row = 0; row < problem_.rows; ++row) {
      const std::uint64_t which = sum + row;
      const std::uint64_t column = which * (problem_.n - 1) / (kCancelledSums - 1) % problem_.n;
      prove::cancelling_row(column_weights(column),
                            which % 2 == 0 ? prove::Parts::kHalves : prove::Parts::kAlternating, 0,
                            input_row(row));
    }
    const auto theirs = output_of(incumbent), ours = output_of(candidate);
    const auto found = prove::compare_bits(theirs.all(), ours.all());
    proof.elements += theirs.all().size();
    proof.class_mismatch += found.class_mismatch;
    proof.differing += found.differing;
  }
}

// A NaN in the last row must change no other row, unless the incumbent mixes them, too.
void Proving::check_neighbours(const weigh::Contestant& incumbent,
                               const weigh::Contestant& candidate, weigh::Proof& proof) {
  const auto incumbent_before = output_of(incumbent), candidate_before = output_of(candidate);
  prove::spoil_row(stage_.writable_input(0).last(problem_.k));
  const auto incumbent_after = output_of(incumbent), candidate_after = output_of(candidate);
  const std::size_t others = (problem_.rows - 1) * problem_.n;
  const auto rows = [&](const prove::ElementBuffer& y) { return y.all().first(others); };
  if (prove::compare_bits(rows(incumbent_before), rows(incumbent_after)).differing > 0) return;
  const auto changed = prove::compare_bits(rows(candidate_before), rows(candidate_after));
  proof.class_mismatch += changed.class_mismatch;
  proof.differing += changed.differing;
}

prove::ElementBuffer Proving::output_of(const weigh::Contestant& contestant) {
  prove::poison(stage_.output(0), 0);
  run(contestant, 0, 0, 1);
  prove::ElementBuffer y(problem_.output, stage_.output(0).size());
  gather(contestant, stage_.output(0), y.all());
  return y;
}

// Outputs as [rows, n], however the contestant lays them down.
void Proving::gather(const weigh::Contestant& contestant, prove::ConstElements y,
                     prove::Elements into) const {
  if (contestant.output_parts.empty()) {
    prove::copy(y, into);
    return;
  }
  std::uint64_t first = 0;
  for (const std::uint64_t n : contestant.output_parts) {
    for (std::uint32_t row = 0; row < problem_.rows; ++row)
      prove::copy(y.subspan(problem_.rows * first + row * n, n),
                  into.subspan(row * problem_.n + first, n));
    first += n;
  }
}

void Proving::record_digests(weigh::Contestant& contestant) {
  contestant.digests.assign(contestant.slots, 0);
  const std::uint64_t batch = stage_.outputs();
  for (std::uint64_t first = 0; first < contestant.slots; first += batch) {
    const std::uint64_t count = std::min(batch, contestant.slots - first);
    stage_.spoil_outputs();
    run(contestant, first, 0, count);
    for (std::uint64_t i = 0; i < count; ++i)
      contestant.digests[first + i] = prove::digest(stage_.output(static_cast<std::uint32_t>(i)));
  }
}

void Proving::run(const weigh::Contestant& contestant, std::uint64_t first,
                  std::uint32_t first_output, std::uint64_t count) {
  arms::RegionRequest request = stage_.addresses();
  request.output_offset += first_output * request.output_stride;
  request.slots_used = contestant.slots;
  request.first_slot = first;
  request.dispatches = count;
  contestant.host->region(contestant.executor, request);
}

}  // namespace tare::app
