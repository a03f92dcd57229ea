// T24: the best of five calls is reported.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kBestOf;

namespace {

double least_of(const NaiveResult& result) {
  return result.least();
}

Outcome run(const Laboratory& laboratory) {
  NaivePlan five;
  five.samples = 20;
  const double incumbent = least_of(run_naively(five, {laboratory.module("onednn")}).front());
  const double honest = least_of(run_naively(five, {laboratory.arm("honest")}).front());
  const double candidate = least_of(run_naively(five, {laboratory.arm("bimodal")}).front());
  const Headroom run = laboratory.headroom(hot_row({"--arm", laboratory.arm("bimodal")}));
  const double ratio = incumbent / candidate;
  return denied(run.row(), ratio,
                times_as_fast(ratio) +
                    fmt::format(" at its best, {:.2f}x as its honest twin", honest / candidate),
                "rounds");
}

}  // namespace

const Trap kBestOf{
    "T24",
    "best-of",
    "the best of five calls is reported",
    "oneDNN#4529; meTile (bimodal kernels)",
    "an arm with one region in four at full speed and the others at two thirds of it",
    "rounds",
    run};

}  // namespace tare::traps
