// C9: a race that the first look does not see.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kRace;

namespace {

constexpr int kMostLooks = 4;

Outcome run(const Laboratory& laboratory) {
  // Threads that meet often enough are wrong in the proof already, by more than its types explain.
  Liar liar{"racy", {"output", "precision"}};
  liar.plan.threads = 2;
  liar.plan.check = close_enough;
  liar.arguments = cold_row({"--threads", "2", "--traffic", "2e7"});
  // Whether threads meet is luck: a run in which they did not has nothing to show. Seen in about
  // one of five.
  Outcome outcome = run_liar(laboratory, liar);
  for (int look = 1; look < kMostLooks && !outcome.caught; ++look)
    outcome = run_liar(laboratory, liar);
  return outcome;
}

}  // namespace

const Trap kRace{
    "C9",
    "race",
    "a race that the first look does not see",
    "wafer (a determinism check caught a 104x fake)",
    "an arm with two threads that add into the same floats, and nothing that keeps them apart",
    "output, precision",
    run};

}  // namespace tare::traps
