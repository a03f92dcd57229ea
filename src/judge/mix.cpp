#include "judge/mix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace tare::judge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Chosen before a weighing's data is seen. The large ones decide within three units when the arms
// do not overlap, the small ones when a difference is a fraction of the noise.
constexpr std::array kStakes{0.06, 0.15, 0.35, 0.8, 1.6, 3.2};
constexpr std::size_t kGames = 3;
constexpr std::size_t kBets = kGames * 2 * kStakes.size();

// Scores are clipped at this many typical spreads: an outlier is one vote, not a verdict. Tried on
// recorded rounds (data/traces): 2, 1, 0.5, 0.3 and 0.2; below 0.5 nothing is gained, and rare
// costs are seen later.
constexpr double kSpreads = 0.5;
// A range of three equal arms is 1.7 times the difference of two, in any normal noise.
constexpr double kRangeOfThree = 1.7;
constexpr std::size_t kFewestSpreads = 3;

// The capitals of one game, one a stake on either side, as logarithms.
class Game {
 public:
  template <std::size_t Most>
  void bet(const std::array<double, Most>& scores, std::size_t arms) {
    const double own = scores[arms - 1];
    for (std::size_t i = 0; i < kStakes.size(); ++i)
      for (const int side : {0, 1}) {
        const double stake = side == 0 ? kStakes[i] : -kStakes[i];
        double mean = 0;
        for (std::size_t arm = 0; arm < arms; ++arm) mean += std::exp(stake * (scores[arm] - own));
        capital_[2 * i + static_cast<std::size_t>(side)] -=
            std::log(mean / static_cast<double>(arms));
      }
  }
  std::span<const double> capital() const { return capital_; }

 private:
  std::array<double, 2 * kStakes.size()> capital_{};
};

double log_of_mean(const std::array<Game, kGames>& games) {
  double most = -kInfinity;
  for (const Game& game : games)
    for (const double capital : game.capital()) most = std::max(most, capital);
  double sum = 0;
  for (const Game& game : games)
    for (const double capital : game.capital()) sum += std::exp(capital - most);
  return most + std::log(sum / static_cast<double>(kBets));
}

// Distance from the middle arm in typical spreads, clipped, with mean zero. High: slow.
template <std::size_t Most>
std::array<double, Most> distances(const std::array<double, Most>& logs, std::size_t arms,
                                   double scale) {
  const auto [low, high] = std::minmax(logs[0], logs[1]);
  const double middle = arms == 2 ? (low + high) / 2 : std::clamp(logs[2], low, high);
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

double Mix::paired(const Logs& logs) const {
  return arms_ == 2 ? logs[0] - logs[1] : (logs[0] + logs[1]) / 2 - logs[2];
}

// Between equal arms: the incumbent and its control; without one, how far the pair's difference
// lies from what it mostly was.
void Mix::note(const Logs& logs, Scale& scale) const {
  const double difference = paired(logs);
  scale.spreads.add(arms_ == 3 ? kRangeOfThree * std::fabs(logs[0] - logs[1])
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

Mix::Capital Mix::log_capital_against(double log_ratio) const {
  const auto shifted = [&](Logs logs) {
    logs[arms_ - 1] += log_ratio;
    return logs;
  };
  std::array<Game, kGames> games;
  Capital capital;
  for (std::size_t i = 0; i < units_.size() * kRoundsPerUnit; ++i) {
    if (rounds_[i].scale > 0)
      games[0].bet(distances(shifted(rounds_[i].logs), arms_, rounds_[i].scale), arms_);
    if ((i + 1) % kRoundsPerUnit != 0) continue;
    const Scored& unit = units_[i / kRoundsPerUnit];
    if (unit.scale > 0) games[1].bet(distances(shifted(unit.logs), arms_, unit.scale), arms_);
    const std::size_t first = i + 1 - kRoundsPerUnit;
    const auto logs_at = [&](std::size_t round, std::size_t arm) {
      return rounds_[first + round].logs[arm] + (arm + 1 == arms_ ? log_ratio : 0);
    };
    games[2].bet(ranks<kMostArms>(kRoundsPerUnit, arms_, logs_at), arms_);
    capital.now = log_of_mean(games);
    capital.most = std::max(capital.most, capital.now);
  }
  return capital;
}

double Mix::log_estimate() const {
  // Of single differences: each is symmetric about the truth, and where times have two modes most
  // lie close to it. Tried: averages of rounds, incumbents' mean less candidate; skewed as that
  // mean is, they were 0.5 % off under phases of a region's length, and excluded by the game in 13
  // of 100 weighings.
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

Mix::LogSet Mix::surviving(double alpha) const {
  constexpr double kFurthest = 12;  // a factor of 160,000: nothing there means nothing anywhere
  constexpr double kFinest = 1e-6;
  const double threshold = -std::log(alpha);
  const double estimate = log_estimate();
  const auto excluded = [&](double log_ratio) {
    return log_evidence_against(log_ratio) >= threshold;
  };
  // The estimate, or the nearest to it that survives.
  const auto survivor = [&]() -> std::optional<double> {
    if (!excluded(estimate)) return estimate;
    for (double away = 1e-4; away < kFurthest; away *= 1.2)
      for (const double sign : {-1.0, 1.0})
        if (!excluded(estimate + sign * away)) return estimate + sign * away;
    return std::nullopt;
  };
  const std::optional<double> inner = survivor();
  if (!inner) return {{estimate, estimate}, true};
  const double centre = *inner;
  // Outwards in growing steps to the first that is excluded, then halving back to the edge.
  const auto edge = [&](double sign) {
    double inside = 0, step = 1e-4;
    while (inside + step < kFurthest && !excluded(centre + sign * (inside + step))) {
      inside += step;
      step *= 1.5;
    }
    if (inside + step >= kFurthest) return sign * kInfinity;
    double outside = inside + step;
    while (outside - inside > std::max(kFinest, 1e-3 * outside)) {
      const double middle = (inside + outside) / 2;
      (excluded(centre + sign * middle) ? outside : inside) = middle;
    }
    return centre + sign * outside;
  };
  return {{edge(-1), edge(1)}, false};
}

}  // namespace tare::judge
