#include "judge/mix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tare::judge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Chosen before a weighing's data is seen. The large ones decide within two units when the arms do
// not overlap, the small ones when a difference is a fraction of the noise.
constexpr std::array kStakes{0.06, 0.15, 0.35, 0.8, 1.6, 3.2};
constexpr std::size_t kGames = 3;

// Scores are clipped at this many typical spreads: an outlier is one vote, not a verdict. Tried on
// recorded rounds (data/traces): 2, 1, 0.5, 0.3 and 0.2; below 0.5 nothing is gained, and rare
// costs are seen later.
constexpr double kSpreads = 0.5;
// A range of three equal arms is 1.7 times the difference of two, in any normal noise.
constexpr double kRangeOfThree = 1.7;
constexpr std::size_t kFewestSpreads = 3;

// The capitals of one score, one a stake on either side, as logarithms.
class Game {
 public:
  template <std::size_t Most>
  void bet(const std::array<double, Most>& scores, std::size_t arms) {
    for (std::size_t i = 0; i < kStakes.size(); ++i) {
      slower[i] -= log_mean(scores, arms, kStakes[i]);
      faster[i] -= log_mean(scores, arms, -kStakes[i]);
    }
  }

  using Capitals = std::array<double, kStakes.size()>;
  Capitals slower{}, faster{};

 private:
  // Of exp(stake * (score of an arm - the candidate's score)).
  template <std::size_t Most>
  static double log_mean(const std::array<double, Most>& scores, std::size_t arms, double stake) {
    double sum = 0;
    for (std::size_t arm = 0; arm < arms; ++arm)
      sum += std::exp(stake * (scores[arm] - scores[arms - 1]));
    return std::log(sum / static_cast<double>(arms));
  }
};

using Games = std::array<Game, kGames>;

// Logarithm of half the mean of all capitals on one side.
double log_half(const Games& games, Game::Capitals Game::*side) {
  double most = -kInfinity;
  for (const Game& game : games) most = std::max(most, *std::ranges::max_element(game.*side));
  double sum = 0;
  for (const Game& game : games)
    for (const double capital : game.*side) sum += std::exp(capital - most);
  return most + std::log(sum / static_cast<double>(2 * kGames * kStakes.size()));
}

double middle_of(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Distance from the middle arm in typical spreads, clipped, with mean zero. High: slow.
template <std::size_t Most>
std::array<double, Most> distances(const std::array<double, Most>& logs, std::size_t arms,
                                   double scale) {
  const double middle = arms == 2 ? (logs[0] + logs[1]) / 2 : middle_of(logs[0], logs[1], logs[2]);
  std::array<double, Most> scores{};
  double sum = 0;
  for (std::size_t arm = 0; arm < arms; ++arm) {
    scores[arm] = std::clamp((logs[arm] - middle) / (kSpreads * scale), -1.0, 1.0);
    sum += scores[arm];
  }
  for (std::size_t arm = 0; arm < arms; ++arm) scores[arm] -= sum / static_cast<double>(arms);
  return scores;
}

}  // namespace

double Mix::Scale::value() const {
  return spreads.count() < kFewestSpreads ? 0 : spreads.value();
}

// Between equal arms: the incumbent and its control; without one, how far the pair's difference
// lies from what it mostly was.
void Mix::note(const Logs& logs, Scale& scale) const {
  const double difference = logs[0] - logs[1];
  scale.spreads.add(arms_ == 3 ? kRangeOfThree * std::fabs(difference)
                               : 2 * std::fabs(difference - scale.ratios.value()));
  scale.ratios.add(difference);
}

void Mix::add(const Round& round) {
  Logs logs{};
  arms_ = 0;
  logs[arms_++] = std::log(round.incumbent);
  if (!std::isnan(round.control)) logs[arms_++] = std::log(round.control);
  logs[arms_++] = std::log(round.candidate);
  rounds_.push_back({logs, round_scale_.value()});
  note(logs, round_scale_);
  if (rounds_.size() % kRoundsPerUnit == 0) close_unit();
}

void Mix::close_unit() {
  Logs least = rounds_.back().logs;
  for (std::size_t i = rounds_.size() - kRoundsPerUnit; i < rounds_.size(); ++i)
    for (std::size_t arm = 0; arm < arms_; ++arm)
      least[arm] = std::min(least[arm], rounds_[i].logs[arm]);
  units_.push_back({least, unit_scale_.value()});
  note(least, unit_scale_);
}

namespace {

// Of every arm: the share of the other arms' regions in the unit that it was slower than, from -1
// (the fastest throughout) to 1. `logs_at(round, arm)`.
template <std::size_t Most, typename LogsAt>
std::array<double, Most> ranks(std::size_t rounds, std::size_t arms, LogsAt logs_at) {
  std::array<double, Most> slower{};
  for (std::size_t i = 0; i < rounds; ++i)
    for (std::size_t j = 0; j < rounds; ++j)
      for (std::size_t arm = 0; arm + 1 < arms; ++arm)
        for (std::size_t other = arm + 1; other < arms; ++other) {
          const double difference = logs_at(i, arm) - logs_at(j, other);
          const double vote = difference > 0 ? 1 : difference < 0 ? -1 : 0;
          slower[arm] += vote;
          slower[other] -= vote;
        }
  for (std::size_t arm = 0; arm < arms; ++arm)
    slower[arm] /= static_cast<double>(rounds * rounds * (arms - 1));
  return slower;
}

}  // namespace

Mix::LogEvidence Mix::log_evidence(double log_ratio) const {
  const auto shifted = [&](Logs logs) {
    logs[arms_ - 1] += log_ratio;
    return logs;
  };
  const auto look = [](Half& half, double now) {
    half.now = now;
    half.most = std::max(half.most, now);
  };
  const double start = -std::log(2.0);
  LogEvidence evidence{{start, start}, {start, start}};
  Games games;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    const std::size_t first = unit * kRoundsPerUnit;
    for (std::size_t i = first; i < first + kRoundsPerUnit; ++i)
      if (rounds_[i].scale > 0)
        games[0].bet(distances(shifted(rounds_[i].logs), arms_, rounds_[i].scale), arms_);
    const Scored& least = units_[unit];
    if (least.scale > 0) games[1].bet(distances(shifted(least.logs), arms_, least.scale), arms_);
    const auto logs_at = [&](std::size_t round, std::size_t arm) {
      return rounds_[first + round].logs[arm] + (arm + 1 == arms_ ? log_ratio : 0);
    };
    games[2].bet(ranks<kMostArms>(kRoundsPerUnit, arms_, logs_at), arms_);
    look(evidence.ratio_is_lower, log_half(games, &Game::slower));
    look(evidence.ratio_is_higher, log_half(games, &Game::faster));
  }
  return evidence;
}

double Mix::log_estimate() const {
  // Of single differences: each is symmetric about the truth, and where times have two modes most
  // lie close to it. Tried: averages of rounds, incumbents' mean less candidate; skewed as that
  // mean is, they were 0.5 % off under phases of a region's length.
  std::vector<double> differences;
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    const std::size_t first = i - i % kRoundsPerUnit;
    const std::size_t last = std::min(first + kRoundsPerUnit, rounds_.size());
    for (std::size_t j = first; j < last; ++j)
      for (std::size_t arm = 0; arm + 1 < arms_; ++arm)
        differences.push_back(rounds_[i].logs[arm] - rounds_[j].logs[arms_ - 1]);
  }
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

namespace {

// Where a test that holds far out on the `sign` side and not far out on the other begins to hold,
// to a thousandth of its distance from `start`, on the side where it holds; infinity where it never
// does.
template <typename Holds>
double edge(double start, double sign, Holds holds) {
  constexpr double kFurthest = 12;  // a factor of 160,000: nothing there means nothing anywhere
  constexpr double kFirst = 1e-4, kGrowth = 1.5, kFinest = 1e-6;
  // Against the sign until it does not hold, then with it until it does.
  double without = start;
  for (double step = kFirst; holds(without); step *= kGrowth) {
    without -= sign * step;
    if (step > kFurthest) return -sign * kInfinity;
  }
  double with = without;
  for (double step = kFirst; !holds(with); step *= kGrowth) {
    if (step > kFurthest) return sign * kInfinity;
    without = with;
    with += sign * step;
  }
  while (std::fabs(with - without) > std::max(kFinest, 1e-3 * std::fabs(with - start))) {
    const double middle = (with + without) / 2;
    (holds(middle) ? with : without) = middle;
  }
  return with;
}

}  // namespace

Mix::LogSet Mix::surviving(double alpha) const {
  const double threshold = -std::log(alpha);
  const double start = log_estimate();
  const double high = edge(start, 1, [&](double log_ratio) {
    return log_evidence(log_ratio).ratio_is_lower.most >= threshold;
  });
  const double low = edge(start, -1, [&](double log_ratio) {
    return log_evidence(log_ratio).ratio_is_higher.most >= threshold;
  });
  if (low <= high) return {{low, high}, false};
  return {{high, low}, true};
}

}  // namespace tare::judge
