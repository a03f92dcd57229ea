// T29: a shape that fails counts as 1.0x.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kFailuresAveraged;

namespace {

Outcome run(const Laboratory& laboratory) {
  std::vector<std::string> arguments = cold_row({"--arm", laboratory.arm("fails_on_tails")});
  arguments.insert(arguments.end(), {"--shape", "1536x200"});
  const Headroom run = laboratory.headroom(arguments);
  const double average = (run.row(0).judgement.ratio + 1.0) / 2;
  Outcome outcome =
      refused_by(run.row(1), {"failed"}, times_as_fast(average) + " on average over the shapes");
  outcome.caught = outcome.caught && run.exit_code != 0;
  return outcome;
}

}  // namespace

const Trap kFailuresAveraged{"T29",
                             "failures-averaged",
                             "a shape that fails counts as 1.0x",
                             "BackendBench",
                             "an arm that fails where n is no multiple of 64; two shapes, averaged",
                             "failed",
                             run};

}  // namespace tare::traps
