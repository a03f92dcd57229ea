#include "weigh/weigh.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "weigh/shuffle.h"

namespace tare::weigh {
namespace {

constexpr std::uint32_t kRounds = 5;  // a block: the unit of the judge's game (judge/mix.h)
// A round's region is at least so many times what a region costs, so that the correction is small.
constexpr double kCostsPerRound = 25;
// Regions of the limit arms; their own overhead is a hand-over of microseconds.
constexpr double kLimitRegionSeconds = 0.003;
// Long regions, half rings, and a second look at the limits: in so many blocks first,
// then in one now and then, since they take several times as long as the rounds that decide. Eight
// values give an interval at 99 %.
constexpr std::uint32_t kFirstFullBlocks = 8;
constexpr std::uint32_t kFullBlockEvery = 16;
// Slices are short, and the interval of what a region costs stays as wide as its worst block until
// it has a dozen: 8 of them left a between 26 and 550 us, and a row of 1.2x inconclusive.
constexpr std::uint32_t kSlicesEvery = 2;
// Fewer of the long ones, 20 ms each, where slices tell the cost per region: they then only show
// what a naive harness would.
constexpr std::uint32_t kFirstLongBlocks = 4;
constexpr std::uint64_t kSliceDispatches = 8;
constexpr std::uint32_t kSingles = 4;       // regions of one dispatch, a block
constexpr std::uint32_t kHalfRings = 2;     // regions of every compared arm, a block
constexpr double kEstimateSeconds = 0.004;  // a region that dispatches are priced in, at least
constexpr int kMostBudgets = 4;  // a very slow arm does not get its fewest blocks at any price

// One region to run in a block.
struct Turn {
  Contestant* contestant;
  RegionPlan plan;
  std::uint32_t round = 0;
};
// Turns that stay together, in random order among themselves: what is paired lies close in time.
using Group = std::vector<Turn>;

std::uint64_t dispatches_within(double seconds, double per_dispatch) {
  return static_cast<std::uint64_t>(std::max(1.0, std::floor(seconds / per_dispatch)));
}

std::uint64_t dispatches_over(double seconds, double per_dispatch) {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(seconds / per_dispatch)));
}

// What one arm's dispatches and regions cost, roughly.
struct Estimate {
  double per_dispatch = 0;
  double per_region = 0;  // 0 where no slice was weighed
};

// Dispatches of every arm's regions. Rounds of all compared arms take the same time: a longer
// region runs warmer and meets other interruptions, and was seen to look 1 to 5 % faster per
// dispatch than a short one of the same arm (results/calibrate, hot, 200 us a region planted in one
// of two equal arms). So each arm has its own number of dispatches.
class Lengths {
 public:
  Lengths(const WeighPlan& plan, const std::vector<Contestant>& contestants,
          const std::vector<Estimate>& estimates, double bytes_per_dispatch) {
    const auto amortised =
        static_cast<std::uint64_t>(std::max(1.0, std::round(plan.traffic / bytes_per_dispatch)));
    const double round = round_seconds(plan, contestants, estimates);
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const Role role = contestants[i].role;
      // Incumbent and control are one arm: the same numbers for both.
      const std::size_t like =
          role == Role::kControl ? index_of(Role::kIncumbent, contestants, i) : i;
      long_.push_back(is_limit(role) ? 0 : long_dispatches(plan, estimates[like], amortised));
      round_.push_back(
          is_limit(role)
              ? dispatches_within(kLimitRegionSeconds, estimates[i].per_dispatch)
              : std::min(long_.back(), dispatches_over(round, estimates[like].per_dispatch)));
    }
  }
  std::uint64_t of_round(std::size_t contestant) const { return round_[contestant]; }
  // 0: rounds are as long as the traffic asked for.
  std::uint64_t of_long(std::size_t contestant) const {
    return long_[contestant] > round_[contestant] ? long_[contestant] : 0;
  }

 private:
  static std::size_t index_of(Role role, const std::vector<Contestant>& contestants,
                              std::size_t otherwise) {
    const auto found = std::ranges::find(contestants, role, &Contestant::role);
    return found == contestants.end() ? otherwise
                                      : static_cast<std::size_t>(found - contestants.begin());
  }
  // Of the traffic asked for, but no longer than a region may be.
  static std::uint64_t long_dispatches(const WeighPlan& plan, const Estimate& estimate,
                                       std::uint64_t amortised) {
    return std::min(amortised,
                    std::max<std::uint64_t>(
                        dispatches_within(plan.most_region_seconds, estimate.per_dispatch), 2));
  }
  static double round_seconds(const WeighPlan& plan, const std::vector<Contestant>& contestants,
                              const std::vector<Estimate>& estimates) {
    double seconds =
        plan.residency == Residency::kHot ? plan.hot_round_seconds : plan.cold_round_seconds;
    for (std::size_t i = 0; i < contestants.size(); ++i)
      if (!is_limit(contestants[i].role))
        seconds = std::max(seconds, kCostsPerRound * estimates[i].per_region);
    return seconds;
  }

  std::vector<std::uint64_t> long_, round_;
};

class BlockPlan {
 public:
  BlockPlan(const WeighPlan& plan, std::vector<Contestant>& contestants, const Lengths& lengths)
      : plan_(plan), contestants_(contestants), lengths_(lengths) {}

  std::vector<Turn> turns(std::uint32_t block, std::mt19937_64& random) {
    std::vector<Group> groups;
    for (std::uint32_t round = 0; round < kRounds; ++round) groups.push_back(round_group(round));
    add_limits(groups, 0);
    if (block < kFirstFullBlocks || block % kFullBlockEvery == 0) {
      add_limits(groups, 1);
      if (block < kFirstLongBlocks || block >= kFirstFullBlocks || !has_slices())
        groups.push_back(long_group());
      add_half_rings(groups);
    }
    if (block < kFirstFullBlocks || block % kSlicesEvery == 0)
      for (Contestant& contestant : contestants_)
        if (contestant.slices) groups.push_back(slice_group(contestant));
    shuffle(groups, random);
    std::vector<Turn> all;
    for (Group& group : groups) {
      shuffle(group, random);
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }

 private:
  Turn turn(Contestant& contestant, Purpose purpose, std::uint64_t dispatches,
            std::uint32_t round = 0) const {
    return {&contestant, {dispatches, purpose, plan_.mode, plan_.residency}, round};
  }

  Group round_group(std::uint32_t round) {
    Group group;
    for (std::size_t i = 0; i < contestants_.size(); ++i)
      if (!is_limit(contestants_[i].role))
        group.push_back(turn(contestants_[i], Purpose::kRound, lengths_.of_round(i), round));
    return group;
  }

  void add_limits(std::vector<Group>& groups, std::uint32_t look) {
    for (std::size_t i = 0; i < contestants_.size(); ++i)
      if (is_limit(contestants_[i].role))
        groups.push_back({turn(contestants_[i], Purpose::kRound, lengths_.of_round(i), look)});
  }

  Group long_group() {
    Group group;
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      Contestant& contestant = contestants_[i];
      const std::uint64_t longer = lengths_.of_long(i);
      if (longer > 0) group.push_back(turn(contestant, Purpose::kLong, longer));
    }
    return group;
  }

  // As long as rounds and among them, so that what else is read between two visits to a slot is
  // read here, too. Within one long region nothing else is read: there half a ring of four times
  // the cache was 6 % faster, while the rounds of a ring four times as large took the same time
  // (Zen 5, 32 MiB: rings of 256 MB and 1 GB). Every compared arm has them, since slots that are
  // read more often are warmer where a cache holds some of the ring: when they were the
  // incumbent's alone it took 2.7 % +- 0.4 less time than its control (Xeon, 480 MiB, a ring of
  // 100 MB, 320 rounds).
  void add_half_rings(std::vector<Group>& groups) {
    if (plan_.residency != Residency::kCold) return;
    for (std::uint32_t round = 0; round < kHalfRings; ++round) {
      Group group;
      for (std::size_t i = 0; i < contestants_.size(); ++i)
        if (!is_limit(contestants_[i].role) && contestants_[i].slots > 1)
          group.push_back(turn(contestants_[i], Purpose::kHalfRing, lengths_.of_round(i), round));
      groups.push_back(std::move(group));
    }
  }
  bool has_slices() const {
    return std::ranges::all_of(contestants_, [](const Contestant& one) {
      return one.slices || (one.role != Role::kIncumbent && one.role != Role::kCandidate);
    });
  }
  Group slice_group(Contestant& contestant) const {
    Group group(kSingles, turn(contestant, Purpose::kSliceOne, 1));
    group.push_back(turn(contestant, Purpose::kSliceMany, kSliceDispatches));
    group.push_back(turn(contestant, Purpose::kSliceTwice, kSliceDispatches));
    return group;
  }

  const WeighPlan& plan_;
  std::vector<Contestant>& contestants_;
  const Lengths& lengths_;
};

void run_block(const std::vector<Turn>& turns, std::uint32_t block, RegionRunner& runner,
               Weighing& weighing) {
  std::uint32_t order = 0;
  for (const Turn& turn : turns) {
    Region region = runner.run(*turn.contestant, turn.plan);
    region.placement = static_cast<std::uint32_t>(weighing.placements.size() - 1);
    region.block = block;
    region.round = turn.round;
    region.order = order++;
    weighing.regions.push_back(region);
  }
}

void note_device(const WeighPlan& plan, std::uint32_t block, Weighing& weighing) {
  auto state = plan.look_at_device ? plan.look_at_device() : std::nullopt;
  if (!state) return;
  state->placement = static_cast<std::uint32_t>(weighing.placements.size() - 1);
  state->block = block;
  weighing.device_states.push_back(*state);
}

double least_of_three(RegionRunner& runner, Contestant& contestant, const RegionPlan& plan) {
  double least = runner.run(contestant, plan).seconds;
  for (int look = 0; look < 2; ++look)
    least = std::min(least, runner.run(contestant, plan).seconds);
  return least;
}

double estimate_region(RegionRunner& runner, Contestant& contestant, const WeighPlan& plan) {
  if (!contestant.slices) return 0;
  const auto seconds = [&](Purpose purpose, std::uint64_t dispatches) {
    return least_of_three(runner, contestant, {dispatches, purpose, plan.mode, plan.residency});
  };
  const auto n = static_cast<double>(kSliceDispatches);
  const double cost =
      n * seconds(Purpose::kSliceOne, 1) - seconds(Purpose::kSliceMany, kSliceDispatches);
  return std::max(0.0, cost / (n - 1));
}

std::vector<Estimate> estimate_all(const WeighPlan& plan, RegionRunner& runner,
                                   std::vector<Contestant>& contestants) {
  std::vector<Estimate> estimates;
  for (Contestant& contestant : contestants) {
    const double per_region = estimate_region(runner, contestant, plan);
    const double seconds = std::max(kEstimateSeconds, kCostsPerRound * per_region);
    estimates.push_back({estimate_dispatch(runner, contestant, plan, seconds), per_region});
  }
  return estimates;
}

}  // namespace

double estimate_dispatch(RegionRunner& runner, Contestant& contestant, const WeighPlan& plan,
                         double region_seconds) {
  RegionPlan region{1, Purpose::kRound, plan.mode, plan.residency};
  const auto per_dispatch = [&] {
    return std::max(
        1e-9, runner.run(contestant, region).seconds / static_cast<double>(region.dispatches));
  };
  // The least of three: one disturbed look would make all regions of the row too short.
  double least = per_dispatch();
  for (int look = 0; look < 2; ++look) {
    region.dispatches = dispatches_within(region_seconds, least);
    least = std::min(least, per_dispatch());
  }
  return least;
}

void weigh(const WeighPlan& plan, RegionRunner& runner, std::vector<Contestant>& contestants,
           Weighing& weighing, const std::function<bool(const Weighing&)>& enough) {
  const auto start = std::chrono::steady_clock::now();
  std::mt19937_64 random(plan.seed);
  weighing.placements.push_back({plan.seed, plan.traffic, plan.fresh_processes, ""});
  try {
    const Lengths lengths(plan, contestants, estimate_all(plan, runner, contestants),
                          weight_bytes(weighing));
    BlockPlan blocks(plan, contestants, lengths);
    for (std::uint32_t block = 0;; ++block) {
      const auto passed = std::chrono::steady_clock::now() - start;
      if (passed > plan.budget && block >= plan.fewest_blocks) return;
      // Estimating may take longer than that, where an arm compiles in its first region.
      if (passed > kMostBudgets * plan.budget && block > 0) return;
      note_device(plan, block, weighing);
      run_block(blocks.turns(block, random), block, runner, weighing);
      if (block + 1 >= plan.fewest_blocks && enough(weighing)) return;
    }
  } catch (const Error& error) {
    weighing.failure = error.what();
  }
}

}  // namespace tare::weigh
