// T40: a cost in some calls hides from the median, and always from the minimum.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kTail;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan five;
  five.samples = 5;
  const double honest = run_naively(five, {laboratory.arm("honest")}).front().least();
  const double candidate = run_naively(five, {laboratory.arm("sometimes_slow")}).front().least();
  const Headroom run = laboratory.headroom(
      hot_row({"--arm", laboratory.arm("sometimes_slow"), "--seconds-per-row", "0.6"}));
  const judge::Judgement& judgement = run.row().judgement;
  Outcome outcome{times_as_fast(honest / candidate, "its honest twin") + ", best of five",
                  words_of(run.row()), "", "", false};
  const double tail = judgement.ratio > 0 ? judgement.tail_ratio / judgement.ratio : 1;
  outcome.caught = tail < 0.85;
  outcome.gate = outcome.caught ? "tail" : "";
  outcome.sentence =
      fmt::format("ratio of medians {:.2f}x, of means {:.2f}x, of 90th percentiles {:.2f}x",
                  judgement.ratio, judgement.mean_ratio, judgement.tail_ratio);
  return outcome;
}

}  // namespace

const Trap kTail{"T40",
                 "tail",
                 "a cost in some calls hides from the median, and always from the minimum",
                 "measured: a minimum of five saw 64 % in 15 s of what a mixed rule saw in 2.7 s",
                 "an arm of which one region in seven takes twice as long",
                 "tail",
                 run};

}  // namespace tare::traps
