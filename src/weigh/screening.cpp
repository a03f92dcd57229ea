#include "weigh/screening.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "weigh/shuffle.h"

namespace tare::weigh {
namespace {

struct Look {
  double once = 0;
  std::uint64_t dispatches = 1;
  std::vector<double> seconds;  // per dispatch, one a round
};

double lower_quartile(std::vector<double> values) {
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

void first_look(const WeighPlan& plan, const ScreeningPlan& screening, RegionRunner& runner,
                Contestant& contestant, Look& look, Impression& impression) {
  look.once = runner.run(contestant, {1, Purpose::kRound, plan.mode, plan.residency}).seconds;
  if (look.once > screening.give_up_seconds) {
    impression.seconds_per_dispatch = look.once;
    impression.given_up = fmt::format("given up after one dispatch of {:.2f} s", look.once);
    return;
  }
  look.dispatches = static_cast<std::uint64_t>(std::max(1.0, screening.region_seconds / look.once));
}

template <typename Action>
void guarded(Impression& impression, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    impression.seconds_per_dispatch = 0;
    impression.given_up = error.what();
  }
}

}  // namespace

std::vector<Impression> screen(const WeighPlan& plan, const ScreeningPlan& screening,
                               RegionRunner& runner, std::vector<Contestant>& contestants) {
  std::vector<Impression> impressions(contestants.size());
  std::vector<Look> looks(contestants.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    guarded(impressions[i],
            [&] { first_look(plan, screening, runner, contestants[i], looks[i], impressions[i]); });
    if (impressions[i].given_up.empty()) order.push_back(i);
  }
  std::mt19937_64 random(plan.seed ^ 0x5c3eeULL);
  for (std::uint32_t round = 0; round < screening.rounds; ++round) {
    shuffle(order, random);
    for (const std::size_t i : order) {
      if (!impressions[i].given_up.empty()) continue;
      guarded(impressions[i], [&] {
        const Region region = runner.run(
            contestants[i], {looks[i].dispatches, Purpose::kRound, plan.mode, plan.residency});
        looks[i].seconds.push_back(region.seconds / static_cast<double>(region.dispatches));
      });
    }
  }
  for (std::size_t i = 0; i < contestants.size(); ++i)
    if (impressions[i].given_up.empty())
      impressions[i].seconds_per_dispatch = lower_quartile(looks[i].seconds);
  return impressions;
}

int fastest(const std::vector<Impression>& impressions) {
  int best = -1;
  for (std::size_t i = 0; i < impressions.size(); ++i) {
    const double seconds = impressions[i].seconds_per_dispatch;
    if (seconds > 0 &&
        (best < 0 || seconds < impressions[static_cast<std::size_t>(best)].seconds_per_dispatch))
      best = static_cast<int>(i);
  }
  return best;
}

}  // namespace tare::weigh
