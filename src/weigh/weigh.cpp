#include "weigh/weigh.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace tare::weigh {
namespace {

constexpr std::uint64_t kShortFraction =
    8;  // a short region has an eighth of a long one's dispatches
constexpr double kLimitRegionSeconds =
    0.012;  // of the limit arms, whose own overhead is a hand-over of microseconds
// The ring gate needs seven pairs, and a clear win stops at ten blocks: so many looks first, then
// one now and then.
constexpr std::uint32_t kFirstHalfRings = 8;
constexpr std::uint32_t kHalfRingEvery = 4;
constexpr int kMostBudgets = 4;  // a very slow arm does not get its fewest blocks at any price

// One region to run in a block.
struct Turn {
  Contestant* contestant;
  RegionPlan plan;
};

bool is_limit(Role role) {
  return role == Role::kStream || role == Role::kPeak;
}

std::uint64_t dispatches_within(double seconds, double per_dispatch) {
  return static_cast<std::uint64_t>(std::max(1.0, std::floor(seconds / per_dispatch)));
}

// Dispatches of every arm's regions: of the traffic asked for, but no longer than a region may be.
// Each arm has its own number, so that a slow one does not leave the regions of a fast one too
// short to be told from noise.
class Lengths {
 public:
  Lengths(const WeighPlan& plan, const std::vector<Contestant>& contestants,
          const std::vector<double>& estimates, const tare_problem& problem) {
    const auto amortised =
        static_cast<std::uint64_t>(std::max(1.0, std::round(plan.traffic / weight_bytes(problem))));
    // Incumbent and control are one arm: the same number for both.
    const double incumbent = estimate_of(Role::kIncumbent, contestants, estimates);
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const Role role = contestants[i].role;
      const double estimate = role == Role::kControl ? incumbent : estimates[i];
      long_.push_back(
          is_limit(role)
              ? dispatches_within(kLimitRegionSeconds, estimate)
              : std::min(amortised, std::max<std::uint64_t>(
                                        dispatches_within(plan.most_region_seconds, estimate), 2)));
      if (role == Role::kIncumbent) incumbent_ = i;
    }
  }
  std::uint64_t long_dispatches(std::size_t contestant) const { return long_[contestant]; }
  std::uint64_t short_dispatches(std::size_t contestant) const {
    return std::max<std::uint64_t>(1, long_[contestant] / kShortFraction);
  }
  std::size_t incumbent() const { return incumbent_; }

 private:
  static double estimate_of(Role role, const std::vector<Contestant>& contestants,
                            const std::vector<double>& estimates) {
    for (std::size_t i = 0; i < contestants.size(); ++i)
      if (contestants[i].role == role) return estimates[i];
    return estimates.empty() ? 1 : estimates.front();
  }
  std::vector<std::uint64_t> long_;
  std::size_t incumbent_ = 0;
};

std::vector<Turn> turns_of_block(const WeighPlan& plan, std::vector<Contestant>& contestants,
                                 const Lengths& lengths, std::uint32_t block) {
  const bool with_half_ring = plan.residency == Residency::kCold &&
                              (block < kFirstHalfRings || block % kHalfRingEvery == 0);
  std::vector<Turn> turns;
  const auto add = [&](Contestant& contestant, std::uint64_t dispatches, bool half_ring) {
    const Mode mode = is_limit(contestant.role) ? Mode::kPrepared : plan.mode;
    turns.push_back({&contestant, {dispatches, half_ring, mode, plan.residency}});
  };
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    Contestant& contestant = contestants[i];
    const std::uint64_t longer = lengths.long_dispatches(i), shorter = lengths.short_dispatches(i);
    add(contestant, longer, false);
    if (shorter < longer) add(contestant, shorter, false);
    // A region too short to come round the half ring re-reads nothing, and can show nothing.
    if (with_half_ring && contestant.role == Role::kIncumbent && longer > contestant.slots / 2)
      add(contestant, longer, true);
  }
  return turns;
}

// Fisher-Yates with the generator's own bits: std::shuffle may differ between standard libraries,
// and a seed must not.
void shuffle(std::vector<Turn>& turns, std::mt19937_64& random) {
  for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[random() % i]);
}

void run_block(std::vector<Turn> turns, std::uint32_t block, std::mt19937_64& random,
               RegionRunner& runner, Weighing& weighing) {
  shuffle(turns, random);
  for (std::uint32_t order = 0; order < turns.size(); ++order) {
    Region region = runner.run(*turns[order].contestant, turns[order].plan);
    region.block = block;
    region.order = order;
    weighing.regions.push_back(region);
  }
}

std::vector<double> estimate_all(const WeighPlan& plan, RegionRunner& runner,
                                 std::vector<Contestant>& contestants) {
  std::vector<double> estimates;
  for (Contestant& contestant : contestants)
    estimates.push_back(estimate_dispatch(runner, contestant, plan, 0.004));
  return estimates;
}

}  // namespace

double estimate_dispatch(RegionRunner& runner, Contestant& contestant, const WeighPlan& plan,
                         double region_seconds) {
  RegionPlan region{1, false, is_limit(contestant.role) ? Mode::kPrepared : plan.mode,
                    plan.residency};
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
  try {
    const Lengths lengths(plan, contestants, estimate_all(plan, runner, contestants),
                          weighing.problem);
    weighing.long_dispatches = lengths.long_dispatches(lengths.incumbent());
    weighing.short_dispatches = lengths.short_dispatches(lengths.incumbent());
    for (std::uint32_t block = 0;; ++block) {
      const auto passed = std::chrono::steady_clock::now() - start;
      if (passed > plan.budget && block >= plan.fewest_blocks) return;
      if (passed > kMostBudgets * plan.budget) return;
      run_block(turns_of_block(plan, contestants, lengths, block), block, random, runner, weighing);
      if (block + 1 >= plan.fewest_blocks && enough(weighing)) return;
    }
  } catch (const Error& error) {
    weighing.failure = error.what();
  }
}

}  // namespace tare::weigh
