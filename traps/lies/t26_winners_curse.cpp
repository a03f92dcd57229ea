// T26: the best of many tuned variants, judged by the runs that chose it.
#include <fmt/format.h>

#include <algorithm>

#include "traps/laboratory.h"
#include "traps/statistics.h"

namespace tare::traps {
extern const Trap kWinnersCurse;

namespace {

Outcome run(const Laboratory& laboratory) {
  const report::Row& row = laboratory.equal_arms();
  const auto incumbent = rounds_of(row, weigh::Role::kIncumbent);
  const auto variants = rounds_of(row, weigh::Role::kControl);
  constexpr std::size_t kRounds = 4, kMostVariants = 16;
  double best = 0;
  for (std::size_t i = 0; i < kMostVariants && (i + 1) * kRounds <= variants.size(); ++i)
    best =
        std::max(best, mean(incumbent) / mean(std::span(variants).subspan(i * kRounds, kRounds)));
  Outcome outcome =
      found_equal(laboratory, "the best variant is " + times_as_fast(best), "fresh processes");
  const std::uint32_t needed = laboratory.rules().verdict_placements;
  outcome.caught = outcome.caught && needed > 1;
  outcome.sentence +=
      fmt::format("; a win is believed when {} placements in fresh processes say it each", needed);
  return outcome;
}

}  // namespace

const Trap kWinnersCurse{"T26",
                         "winners-curse",
                         "the best of many tuned variants, judged by the runs that chose it",
                         "helion#2626; meTile 1.12x -> 1.31x, 1.15x -> 1.00x",
                         "sixteen variants that are one kernel, four rounds each, recorded here; "
                         "the fastest is the winner",
                         "fresh processes",
                         run};

}  // namespace tare::traps
