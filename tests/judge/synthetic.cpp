#include "tests/judge/synthetic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace tare::judge::testing {
namespace {

using weigh::Purpose;
using weigh::Region;
using weigh::Role;

// A machine with a clock of its own. Work is done at the speed of the phase it falls into.
class Machine {
 public:
  Machine(const Noise& noise, std::uint64_t seed) : noise_(noise), random_(seed) {
    slow_ = noise.slow_seconds > 0 &&
            uniform() < noise.slow_seconds / (noise.slow_seconds + noise.fast_seconds);
    phase_left_ = length_of_phase();
  }

  double run(double work) {
    wander_ = noise_.correlation * wander_ +
              noise_.wander * std::sqrt(1 - noise_.correlation * noise_.correlation) * normal();
    double factor = std::exp(wander_ + noise_.jitter * normal());
    if (uniform() < noise_.spike_probability) factor += noise_.spike * exponential();
    return pass(work * factor);
  }

  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

  template <typename Value>
  void shuffle(std::vector<Value>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_() % i]);
  }

 private:
  // Wall time of `work` seconds of work at full speed.
  double pass(double work) {
    double seconds = 0;
    for (;;) {
      const double speed = slow_ ? 1 / noise_.slow_factor : 1;
      if (work / speed <= phase_left_) {
        phase_left_ -= work / speed;
        return seconds + work / speed;
      }
      work -= phase_left_ * speed;
      seconds += phase_left_;
      slow_ = !slow_;
      phase_left_ = length_of_phase();
    }
  }

  double length_of_phase() {
    if (noise_.slow_seconds <= 0) return 1e9;
    return exponential() * (slow_ ? noise_.slow_seconds : noise_.fast_seconds);
  }
  double exponential() { return -std::log(uniform()); }
  double normal() {
    return std::sqrt(2 * exponential()) * std::cos(2 * 3.14159265358979323846 * uniform());
  }

  Noise noise_;
  std::mt19937_64 random_;
  bool slow_ = false;
  double phase_left_ = 0;
  double wander_ = 0;
};

Truth truth_of(const Plan& plan, Role role) {
  Truth truth = plan.incumbent;
  switch (role) {
    case Role::kIncumbent:
      break;
    case Role::kControl:
      truth.per_dispatch /= plan.control_ratio;
      break;
    case Role::kCandidate:
      truth = {truth.per_dispatch / plan.candidate_ratio, plan.candidate_per_region,
               plan.candidate_dispatch_cost};
      break;
    case Role::kStream:
      truth.per_dispatch *= plan.stream_share;
      break;
    case Role::kPeak:
      truth.per_dispatch *= plan.peak_share;
      break;
  }
  return truth;
}

std::vector<Role> roles_of(const Plan& plan) {
  std::vector<Role> roles{Role::kIncumbent, Role::kCandidate};
  if (plan.control) roles.push_back(Role::kControl);
  if (plan.stream_share > 0) roles.push_back(Role::kStream);
  if (plan.peak_share > 0) roles.push_back(Role::kPeak);
  return roles;
}

// Regions that stay together, in random order among themselves.
using Group = std::vector<Region>;

Region region_of(Role role, Purpose purpose, std::uint64_t dispatches, std::uint32_t round = 0) {
  Region region;
  region.arm = role;
  region.purpose = purpose;
  region.round = round;
  region.dispatches = dispatches;
  region.outputs = weigh::is_limit(role) ? weigh::Outputs::kUnchecked : weigh::Outputs::kRight;
  return region;
}

Group round_group(const Plan& plan, std::uint32_t round) {
  Group group;
  for (const Role role : roles_of(plan))
    if (!weigh::is_limit(role))
      group.push_back(region_of(role, Purpose::kRound, plan.round_dispatches, round));
  return group;
}

void add_limits(const Plan& plan, std::vector<Group>& groups) {
  constexpr std::uint64_t kDispatches = 30;
  for (const Role role : roles_of(plan))
    for (std::uint32_t look = 0; weigh::is_limit(role) && look < 2; ++look)
      groups.push_back({region_of(role, Purpose::kRound, kDispatches, look)});
}

Group long_group(const Plan& plan) {
  Group group;
  if (plan.long_dispatches <= plan.round_dispatches) return group;
  for (const Role role : roles_of(plan))
    if (!weigh::is_limit(role))
      group.push_back(region_of(role, Purpose::kLong, plan.long_dispatches));
  return group;
}

void add_half_rings(const Plan& plan, std::vector<Group>& groups) {
  for (std::uint32_t round = 0; plan.half_ring && round < 2; ++round) {
    Group group;
    for (const Role role : roles_of(plan))
      if (!weigh::is_limit(role))
        group.push_back(region_of(role, Purpose::kHalfRing, plan.round_dispatches, round));
    groups.push_back(std::move(group));
  }
}

Group slice_group(Role role) {
  Group group(4, region_of(role, Purpose::kSliceOne, 1));
  group.push_back(region_of(role, Purpose::kSliceMany, 8));
  group.push_back(region_of(role, Purpose::kSliceTwice, 8));
  return group;
}

// A block as src/weigh/weigh.cpp lays it out.
std::vector<Region> turns(const Plan& plan, std::uint32_t block, Machine& machine) {
  std::vector<Group> groups;
  for (std::uint32_t round = 0; round < plan.rounds; ++round)
    groups.push_back(round_group(plan, round));
  add_limits(plan, groups);
  if (block < plan.first_full_blocks || block % plan.full_block_every == 0) {
    groups.push_back(long_group(plan));
    add_half_rings(plan, groups);
    for (const Role role : {Role::kIncumbent, Role::kCandidate})
      if (plan.slices) groups.push_back(slice_group(role));
  }
  machine.shuffle(groups);
  std::vector<Region> regions;
  for (Group& group : groups) {
    machine.shuffle(group);
    regions.insert(regions.end(), group.begin(), group.end());
  }
  return regions;
}

double seconds_per_dispatch(const Region& region, const Plan& plan, const Truth& truth) {
  switch (region.purpose) {
    case Purpose::kRound:
    case Purpose::kLong:
      return truth.per_dispatch;
    case Purpose::kHalfRing:
      return truth.per_dispatch * (region.arm == Role::kCandidate ? plan.candidate_half_ring_ratio
                                                                  : plan.half_ring_ratio);
    case Purpose::kSliceOne:
    case Purpose::kSliceMany:
      return truth.dispatch_cost + plan.slice_seconds;
    case Purpose::kSliceTwice:
      return truth.dispatch_cost + 2 * plan.slice_seconds;
  }
  return 0;
}

void time(Region& region, const Plan& plan, Machine& machine) {
  const Truth truth = truth_of(plan, region.arm);
  double work = truth.per_region +
                seconds_per_dispatch(region, plan, truth) * static_cast<double>(region.dispatches);
  if (region.arm == Role::kCandidate && machine.uniform() < plan.intermittent_share)
    work *= 1 + plan.intermittent_cost;
  region.seconds = std::round(machine.run(work) * 1e8) / 1e8;  // a clock that steps by 10 ns
  region.outer_seconds = region.seconds + 60e-6;
  region.cpu_seconds = 1.99 * region.seconds;
  region.others_cpu_seconds = 5e-6;
  region.elsewhere_cpu_seconds = 0.02 * region.seconds;
  region.page_faults = machine.uniform() < 0.05 ? 1 : 0;
}

weigh::Arm arm_of_plan(Role role) {
  weigh::Arm arm;
  arm.role = role;
  const bool candidate = role == Role::kCandidate;
  arm.name = candidate ? "panel" : weigh::is_limit(role) ? to_string(role) : "library";
  arm.title = candidate ? "Panel" : weigh::is_limit(role) ? to_string(role) : "Library 1.0";
  std::snprintf(arm.dispatched.kernel, sizeof arm.dispatched.kernel, "%s_gemm", arm.name.c_str());
  std::snprintf(arm.dispatched.library, sizeof arm.dispatched.library, "%s", arm.title.c_str());
  arm.dispatched.threads = arm.threads_offered = 2;
  arm.huge_page_share = 1;
  arm.prepare_seconds = candidate ? 3e-3 : 1e-3;
  arm.ring_slots = 100;
  arm.ring_bytes = 1'000'000'000;
  return arm;
}

weigh::Proof equal_proof() {
  weigh::Proof proof;
  proof.done = true;
  proof.elements = 100'000;
  proof.incumbent_error_max = proof.candidate_error_max = 0.5;
  proof.incumbent_error_rms = proof.candidate_error_rms = 0.29;
  proof.oracle_elements = 64;
  return proof;
}

}  // namespace

weigh::Weighing weigh_synthetic(const Plan& plan) {
  weigh::Weighing weighing;
  weighing.problem = {2048, 1024, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  weighing.slice_columns = plan.slices ? 128 : 0;
  weighing.timer_floor_seconds = 100e-9;
  weighing.threads = 2;
  weighing.last_level_cache_bytes = 32'000'000;
  weighing.proof = equal_proof();
  for (const Role role : roles_of(plan)) weighing.arms.push_back(arm_of_plan(role));
  weigh_again(plan, weighing);
  return weighing;
}

void weigh_again(const Plan& plan, weigh::Weighing& weighing, const std::string& set_aside) {
  if (!set_aside.empty()) weighing.placements.back().set_aside = set_aside;
  const auto placement = static_cast<std::uint32_t>(weighing.placements.size());
  weighing.placements.push_back({plan.seed, 1e9, placement > 0, ""});
  Machine machine(plan.noise, plan.seed);
  for (std::uint32_t block = 0; block < plan.blocks; ++block) {
    std::uint32_t order = 0;
    for (Region& region : turns(plan, block, machine)) {
      region.placement = placement;
      region.block = block;
      region.order = order++;
      time(region, plan, machine);
      weighing.regions.push_back(region);
    }
  }
}

weigh::Weighing prefix(const weigh::Weighing& weighing, std::uint32_t blocks) {
  weigh::Weighing result = weighing;
  std::erase_if(result.regions, [&](const Region& region) { return region.block >= blocks; });
  return result;
}

weigh::Arm& arm(weigh::Weighing& weighing, Role role) {
  for (weigh::Arm& each : weighing.arms)
    if (each.role == role) return each;
  throw std::logic_error(std::string("no such arm: ") + to_string(role));
}

}  // namespace tare::judge::testing
