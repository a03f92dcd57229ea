#include "serve/token_weighing.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "base/interrupt.h"
#include "base/splitmix.h"
#include "device/machine.h"
#include "device/quiet.h"
#include "weigh/shuffle.h"
#include "weigh/timer_floor.h"

namespace tare::serve {
namespace {

using weigh::Purpose;
using weigh::Role;
using Clock = std::chrono::steady_clock;

constexpr std::array kRoles{Role::kIncumbent, Role::kControl, Role::kCandidate};
constexpr std::uint32_t kPlacements = 2;
constexpr std::uint32_t kRoundsPerBlock = 4;
// Of a round's region: a block of slow batches would take minutes else.
constexpr double kMostRoundSeconds = 0.5;
// Batches of the longer of two neighbouring stretches that tell what a region costs by itself. Long
// regions and rounds tell it, too, but lie seconds apart: on a host whose cores change speed by 40
// % (an H200's, MLX: 5.6 or 8.2 ms a token) they left it between -33 and 57 ms of 388.
constexpr std::uint64_t kSliceBatches = 4;

// The processes of one placement.
class Bench {
 public:
  explicit Bench(const TokenSetting& setting) : setting_(setting) {
    for (const Role role : kRoles) {
      ModelHostOptions options = setting.host;
      if (role != Role::kCandidate) options.plan.clear();
      hosts_[role] = std::make_unique<ModelHost>(options);
    }
    run_each(1);  // packs, faults, wakes up
  }

  // Untimed: MLX's first tokens on a GPU take longer (it instantiates a graph of every kind it
  // meets), as do a processor's until its clock has settled.
  void run_each(std::uint64_t batches) {
    for (const auto& [role, host] : hosts_) {
      host->begin(setting_.before, sequences());
      host->time(stretch(batches));
    }
  }

  // So many of a round's batches as take no longer than a round should.
  std::uint64_t fitting_batches() {
    hosts_[Role::kIncumbent]->begin(setting_.before, sequences());
    const double each = hosts_[Role::kIncumbent]->time(stretch(1)).seconds;
    const double most = std::max(1.0, std::floor(kMostRoundSeconds / std::max(1e-9, each)));
    return static_cast<std::uint64_t>(std::min(most, static_cast<double>(setting_.round_batches)));
  }

  std::vector<Projection> profile(Role role) {
    return hosts_[role]->profile(stretch(setting_.profiled_batches), setting_.before);
  }

  weigh::Region run(Role role, Purpose purpose, std::uint64_t batches) {
    hosts_[role]->begin(setting_.before, sequences());
    await_quiet(role);
    weigh::Region region;
    region.arm = role;
    region.purpose = purpose;
    region.dispatches = batches;
    const double others = cpu_of_others(role);
    const device::ProcessorTime machine = device::processor_time();
    const auto start = Clock::now();
    const Timed timed = hosts_[role]->time(stretch(batches));
    region.outer_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const device::ProcessorTime after = device::processor_time();
    region.seconds = timed.seconds;
    region.cpu_seconds = timed.cpu_seconds;
    region.others_cpu_seconds = cpu_of_others(role) - others;
    region.elsewhere_cpu_seconds =
        std::max(0.0, after.busy + after.steal - machine.busy - machine.steal - timed.cpu_seconds -
                          region.others_cpu_seconds);
    region.page_faults = static_cast<std::uint64_t>(timed.page_faults);
    region.involuntary_switches = static_cast<std::uint64_t>(timed.involuntary_switches);
    return region;
  }

 private:
  std::uint64_t sequences() const { return setting_.dispatch.anew ? 1 : setting_.dispatch.rows; }

  Stretch stretch(std::uint64_t batches) const {
    Stretch one = setting_.dispatch;
    one.count = batches;
    return one;
  }

  // OpenMP's threads spin for a millisecond or so after a graph (TRAPS T35).
  void await_quiet(Role role) const {
    for (const auto& [other, host] : hosts_)
      for (int look = 0; other != role && look < 200 && device::running_threads(host->pid()) > 0;
           ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  double cpu_of_others(Role role) const {
    double seconds = 0;
    for (const auto& [other, host] : hosts_)
      if (other != role) seconds += device::cpu_seconds(host->pid());
    return seconds;
  }

  const TokenSetting& setting_;
  std::map<Role, std::unique_ptr<ModelHost>> hosts_;
};

weigh::Arm arm_of(Role role, const ModelHostOptions& host) {
  weigh::Arm arm;
  arm.role = role;
  const bool served = role == Role::kCandidate;
  arm.name = served ? host.engine + "-served" : host.engine;
  arm.title = served ? host.engine + " with the plan" : host.engine;
  const std::string kernel = served ? "its own and what the plan serves" : "its own";
  std::strcpy(arm.dispatched.kernel, kernel.c_str());
  arm.threads_offered = host.threads;
  arm.dispatched.threads = host.on_device ? 0 : host.threads;
  arm.ring_slots = 1;
  return arm;
}

weigh::Weighing new_weighing(const TokenSetting& setting) {
  weigh::Weighing weighing;
  weighing.problem = {.k = 1,
                      .n = 1,
                      .rows = static_cast<std::uint32_t>(setting.dispatch.rows),
                      .weights = TARE_BF16,
                      .activations = TARE_BF16,
                      .output = TARE_BF16,
                      .accumulator = TARE_F32,
                      .bias = 0};
  weighing.residency = weigh::Residency::kHot;  // a model is its own ring
  weighing.threads = setting.host.threads;
  weighing.timer_floor_seconds = weigh::timer_floor_seconds();
  for (const Role role : kRoles) weighing.arms.push_back(arm_of(role, setting.host));
  return weighing;
}

struct Position {
  std::uint32_t placement = 0, block = 0;
};

std::vector<Role> shuffled_roles(std::mt19937_64& random) {
  std::vector<Role> roles(kRoles.begin(), kRoles.end());
  weigh::shuffle(roles, random);
  return roles;
}

void run_block(Bench& bench, std::uint64_t round_batches, Position at, std::mt19937_64& random,
               weigh::Weighing& weighing) {
  std::uint32_t order = 0;
  const auto run = [&](Role role, Purpose purpose, std::uint32_t round, std::uint64_t batches) {
    if (interrupt_requested()) throw Interrupted();
    weigh::Region region = bench.run(role, purpose, batches);
    region.placement = at.placement;
    region.block = at.block;
    region.round = round;
    region.order = order++;
    weighing.regions.push_back(region);
  };
  for (std::uint32_t round = 0; round < kRoundsPerBlock; ++round)
    for (const Role role : shuffled_roles(random)) run(role, Purpose::kRound, round, round_batches);
  for (const Role role : shuffled_roles(random))
    run(role, Purpose::kLong, 0, kLongRounds * round_batches);
  if (round_batches < kSliceBatches) return;
  for (const Role role : shuffled_roles(random)) {
    run(role, Purpose::kSliceOne, 0, 1);
    run(role, Purpose::kSliceMany, 0, kSliceBatches);
  }
}

}  // namespace

judge::Rules token_rules() {
  judge::Rules rules;
  rules.verdict_placements = kPlacements;
  return rules;
}

TokenWeighing weigh_tokens(const TokenSetting& setting,
                           const std::function<void(const std::string&)>& step) {
  TokenWeighing result{new_weighing(setting), {}, {}};
  weigh::Weighing& weighing = result.weighing;
  std::uint64_t round_batches = setting.round_batches;
  for (std::uint32_t placement = 0; placement < kPlacements; ++placement) {
    step(fmt::format("starting, {} of {}", placement + 1, kPlacements));
    const std::uint64_t seed = setting.seed + placement * kSplitMixStep;
    weighing.placements.push_back(
        {.seed = seed, .traffic = 0, .fresh_processes = true, .set_aside = ""});
    std::mt19937_64 random(seed);
    Bench bench(setting);
    if (placement == 0) round_batches = bench.fitting_batches();
    bench.run_each(kLongRounds * round_batches);
    double spent = 0;
    for (std::uint32_t block = 0; spent < setting.seconds; ++block) {
      step(fmt::format("weighing, block {}", block + 1));
      const std::size_t before = weighing.regions.size();
      run_block(bench, round_batches, {placement, block}, random, weighing);
      for (std::size_t i = before; i < weighing.regions.size(); ++i)
        spent += weighing.regions[i].seconds;
      if (judge::decided(weighing, token_rules())) break;
    }
    if (placement + 1 < kPlacements) continue;
    step("timing its products");
    result.without = bench.profile(Role::kIncumbent);
    result.with = bench.profile(Role::kCandidate);
  }
  return result;
}

}  // namespace tare::serve
