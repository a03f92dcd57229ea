#include "parts.h"

#include <algorithm>
#include <cmath>

namespace tare::app {
namespace {

using weigh::Role;

// Tiny weights would need millions of slots to leave the cache. The ring gate says when these do
// not.
constexpr double kMostSlots = 1 << 17;
constexpr double kSmallestScout = 64e6;  // bytes
// Bytes of the thin slice: little to read, and wide enough that all threads have work.
constexpr double kSliceBytes = 0.5e6;

// Whole steps of columns, of so many bytes of weights at most, but one step at least.
std::uint64_t columns_of(double bytes, const tare_problem& problem) {
  const double columns = bytes / (weigh::weight_bytes(problem) / static_cast<double>(problem.n));
  return kColumnStep *
         std::max<std::uint64_t>(1, static_cast<std::uint64_t>(columns) / kColumnStep);
}

std::uint64_t slice_columns(const tare_problem& problem) {
  return std::clamp<std::uint64_t>(problem.n / 2, 1, columns_of(kSliceBytes, problem));
}

// Of a scout: 0, all of them, where a slot is not larger than that. Else a step for every part of a
// fused matrix at least.
std::uint64_t scout_columns(double largest_scout, const tare_problem& problem) {
  if (weigh::weight_bytes(problem) <= largest_scout) return 0;
  const std::uint64_t columns =
      std::max(columns_of(largest_scout, problem), kColumnStep * arms::Parts::kMost);
  return columns < problem.n ? columns : 0;
}

std::uint64_t slots_of(double ring_bytes, const tare_problem& problem) {
  // One slot that is a whole ring by itself (an lm_head of a gigabyte) is as cold as a ring of it.
  const double slots = std::ceil(ring_bytes / weigh::weight_bytes(problem));
  return static_cast<std::uint64_t>(std::clamp(slots, 1.0, kMostSlots));
}

// Copies of hot weights, of which a region reads one: one copy's luck of placement would be taken
// for the arm's (weigh/region_runner.cpp). Fewer of weights that no cache holds.
std::uint64_t hot_slots(const tare_problem& problem) {
  constexpr double kCopies = 24, kMostBytes = 256e6;
  return static_cast<std::uint64_t>(
      std::clamp(std::floor(kMostBytes / weigh::weight_bytes(problem)), 1.0, kCopies));
}

}  // namespace

weigh::Role limit_role(const arms::RosterArm& arm) {
  return arm.description.name.find("peak") != std::string::npos ? Role::kPeak : Role::kStream;
}

std::vector<Seat*> seats_of(const std::vector<Part>& parts) {
  std::vector<Seat*> seats;
  seats.reserve(parts.size());
  for (const Part& part : parts) seats.push_back(part.seat);
  return seats;
}

std::vector<weigh::Contestant> contestants_of(const std::vector<Part>& parts) {
  std::vector<weigh::Contestant> contestants;
  contestants.reserve(parts.size());
  for (const Part& part : parts) contestants.push_back(part.seat->contestant);
  return contestants;
}

SeatPlan plan_seats(const tare_problem& problem, weigh::Residency residency, double ring_bytes,
                    std::uint64_t cache_bytes, double largest_scout) {
  SeatPlan plan;
  plan.problem = problem;
  plan.weight_seed = kWeightSeed;
  plan.slice_columns = slice_columns(problem);
  if (residency == weigh::Residency::kHot) {
    plan.full_slots = hot_slots(problem);
    return plan;
  }
  plan.full_slots = slots_of(ring_bytes, problem);
  plan.scout_columns = scout_columns(largest_scout, problem);
  plan.scout_slots = slots_of(std::max(kSmallestScout, static_cast<double>(cache_bytes)), problem);
  return plan;
}

void prepare_slices(weigh::Weighing& weighing, Seats& seats, const std::vector<Part>& parts) {
  weighing.slice_columns = slice_columns(weighing.problem);
  for (const Part& part : parts) {
    const Role role = part.seat->contestant.role;
    if (role != Role::kIncumbent && role != Role::kCandidate) continue;
    Seat* once = seats.seat(*part.seat->arm, RingSize::kSlice, role);
    Seat* twice = seats.seat(*part.seat->arm, RingSize::kSliceTwice, role);
    seats.prepare({once, twice});
    part.seat->contestant.slices.reset();
    if (once->failure.empty() && twice->failure.empty())
      part.seat->contestant.slices =
          weigh::Slices{once->prepared.executor, twice->prepared.executor};
  }
}

void fill_arms(weigh::Weighing& weighing, const std::vector<Part>& parts) {
  weighing.arms.clear();
  for (const auto& [seat, cost] : parts) {
    weigh::Arm arm;
    arm.role = seat->contestant.role;
    arm.name = seat->arm->description.name;
    arm.title = seat->arm->description.title;
    const arms::Described described = seat->arm->host->describe(seat->prepared.executor);
    arm.dispatched = described.record;
    arm.l2_set_aside_bytes = described.l2_set_aside_bytes;
    arm.threads_offered = weighing.threads;
    arm.huge_page_share = seat->prepared.cost.huge_page_share;
    arm.prepare_seconds = cost.plan_seconds + cost.bind_seconds_per_slot;
    arm.prepared_bytes = cost.bytes_per_slot;
    arm.ring_slots = seat->contestant.slots;
    arm.ring_bytes = static_cast<std::uint64_t>(weigh::weight_bytes(weighing)) * arm.ring_slots;
    weighing.arms.push_back(arm);
  }
}

const judge::Finding* first_failed(const judge::Judgement& judgement) {
  const auto failed = std::ranges::find(judgement.gates, false, &judge::Finding::passed);
  return failed == judgement.gates.end() ? nullptr : &*failed;
}

}  // namespace tare::app
