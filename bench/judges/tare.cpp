// Tare's own rule on recorded rounds: what bench/judges/judge.py asks.
//
//   bench_judges_tare [--intervals] < runs
//
// A run is a uint64 count of rounds, the true log(incumbent / candidate), and count x 3 doubles:
// seconds of incumbent, control and candidate; all little-endian. Printed is one line of JSON a
// run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <vector>

#include "judge/judge.h"
#include "judge/mix.h"
#include "judge/pairs.h"

namespace {

using tare::judge::Mix;
using tare::judge::Round;

struct Run {
  double true_log_ratio = 0;
  std::vector<Round> rounds;
};

template <typename Value>
bool read(Value& value) {
  return std::fread(&value, sizeof value, 1, stdin) == 1;
}

// Nothing at the end of the input; exits when a run was cut short.
std::optional<Run> read_run() {
  std::uint64_t count = 0;
  if (!read(count)) return std::nullopt;
  Run run;
  bool whole = read(run.true_log_ratio);
  for (std::uint64_t i = 0; whole && i < count; ++i) {
    Round round;
    whole = read(round.incumbent) && read(round.control) && read(round.candidate);
    run.rounds.push_back(round);
  }
  if (!whole) {
    std::cerr << "bench_judges_tare: the input ends within a run: write " << count << " rounds\n";
    std::exit(2);
  }
  return run;
}

Mix mix_of(const std::vector<Round>& rounds, std::size_t count) {
  Mix mix;
  for (std::size_t i = 0; i < count; ++i) mix.add(rounds[i]);
  return mix;
}

// The rounds after which `found` first holds, for what then mostly holds for good; 0 when it never
// does. Doubling and halving: a finding that comes and goes within a factor of two is not seen.
std::size_t first_round(const std::vector<Round>& rounds,
                        const std::function<bool(const Mix&)>& found) {
  std::size_t without = 0, with = std::min<std::size_t>(8, rounds.size());
  while (!found(mix_of(rounds, with))) {
    if (with == rounds.size()) return 0;
    without = with;
    with = std::min(2 * with, rounds.size());
  }
  while (with - without > 1) {
    const std::size_t middle = (without + with) / 2;
    (found(mix_of(rounds, middle)) ? with : without) = middle;
  }
  return with;
}

std::string json_of(const Mix::LogSet& set) {
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string("null");
  };
  return fmt::format("[{}, {}]", number(set.interval.low), number(set.interval.high));
}

void print(const Run& run, const tare::judge::Rules& rules, bool intervals) {
  using tare::judge::Verdict;
  const auto verdict_after = [&](const Mix& mix, double equivalence) {
    tare::judge::Rules asked = rules;
    asked.equivalence = equivalence;
    return tare::judge::verdict_on(mix, {}, asked);
  };
  // Nothing lies within 0 of 1: only wins and losses are left.
  const std::size_t direction = first_round(
      run.rounds, [&](const Mix& mix) { return verdict_after(mix, 0) != Verdict::kInconclusive; });
  const std::size_t equivalent = first_round(run.rounds, [&](const Mix& mix) {
    return verdict_after(mix, rules.equivalence) == Verdict::kEquivalent;
  });
  const Mix all = mix_of(run.rounds, run.rounds.size());
  const Mix::LogEvidence against_truth = all.log_evidence(run.true_log_ratio);
  fmt::print(R"({{"direction_rounds": {}, "faster": {}, "equivalent_rounds": {}, "log_ratio": {}, )"
             R"("evidence_against_truth": {})",
             direction, verdict_after(mix_of(run.rounds, direction), 0) == Verdict::kWin,
             equivalent, all.log_estimate(),
             std::max(against_truth.ratio_is_lower.most, against_truth.ratio_is_higher.most));
  if (intervals)
    fmt::print(R"(, "log_interval_95": {}, "log_interval_99": {})",
               json_of(all.surviving(rules.alpha)), json_of(all.surviving(rules.verdict_alpha)));
  fmt::print("}}\n");
}

}  // namespace

int main(int count, char** words) {
  bool intervals = false;
  CLI::App app("Tare's rule on recorded rounds");
  app.add_flag("--intervals", intervals, "print the intervals after the last round, too: slow");
  CLI11_PARSE(app, count, words);
  while (const std::optional<Run> run = read_run()) print(*run, {}, intervals);
}
