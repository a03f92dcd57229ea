// T17: a neighbour burns the processors while one arm is measured.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kNeighbour;

namespace {

// Processes that spin on every processor until they go out of scope.
class Neighbours {
 public:
  Neighbours() {
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) {
      const pid_t child = fork();
      if (child == 0) burn();
      if (child > 0) children_.push_back(child);
    }
  }
  ~Neighbours() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  [[noreturn]] static void burn() {
    alarm(60);
    for (volatile unsigned spun = 0;; spun = spun + 1) {
    }
  }
  std::vector<pid_t> children_;
};

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.samples = 2000;
  const std::string onednn = laboratory.module("onednn");
  const double alone = run_naively(plan, {onednn}).front().mean();
  const Neighbours neighbours;
  const double beside = run_naively(plan, {onednn}).front().mean();
  const Headroom run = laboratory.headroom(cold_row({"--arm", laboratory.arm("honest")}));
  Outcome outcome = found_equal(
      run.row(), "oneDNN is " + times_as_fast(alone / beside, "itself, a minute ago"), "noise");
  for (const judge::Finding& finding : run.row().judgement.gates)
    if (finding.gate == "noise" && !finding.sentence.empty()) outcome.sentence = finding.sentence;
  return outcome;
}

}  // namespace

const Trap kNeighbour{
    "T17",
    "neighbour",
    "a neighbour burns the processors while one arm is measured",
    "lemire.me 2018",
    "one process a processor that spins, beside the second arm; the arms are one kernel",
    "noise",
    run};

}  // namespace tare::traps
