// T31: many samples of one process count as many experiments.
#include <fmt/format.h>

#include <cmath>

#include "traps/laboratory.h"
#include "traps/statistics.h"

namespace tare::traps {
extern const Trap kPseudoReplication;

namespace {

// Share of windows whose own 95 % interval of the mean holds the mean of all.
double coverage(const std::vector<double>& seconds, std::size_t window) {
  const double truth = mean(seconds);
  int windows = 0, covered = 0;
  for (std::size_t at = 0; at + window <= seconds.size(); at += window) {
    const auto part = std::span(seconds).subspan(at, window);
    const double half = 1.96 * std::sqrt(variance(part) / static_cast<double>(window));
    ++windows;
    covered += std::fabs(mean(part) - truth) <= half;
  }
  return windows == 0 ? 0 : static_cast<double>(covered) / windows;
}

Outcome run(const Laboratory& laboratory) {
  const report::Row& row = laboratory.equal_arms();
  const double covered = coverage(rounds_of(row, weigh::Role::kIncumbent), 10);
  return found_equal(
      laboratory,
      fmt::format("its 95 % intervals hold the truth in {:.0f} % of windows", 100 * covered),
      "paired rounds");
}

}  // namespace

const Trap kPseudoReplication{
    "T31",
    "pseudo-replication",
    "many samples of one process count as many experiments",
    "duckdb#24503 (design effect 2.48); TransformerEngine#637",
    "95 % intervals of a mean from neighbouring regions of one arm, recorded here",
    "paired rounds",
    run};

}  // namespace tare::traps
