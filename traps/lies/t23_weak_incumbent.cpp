// T23: the library that is beaten is not the one to beat.
#include <fmt/format.h>

#include <algorithm>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kWeakIncumbent;

namespace {

// Seconds of the slowest library that ran.
double slowest(const report::Row& row) {
  double most = 0;
  for (const report::Screened& screened : row.screened)
    most = std::max(most, screened.seconds_per_dispatch);
  return most;
}

Outcome run(const Laboratory& laboratory) {
  const Headroom run =
      laboratory.headroom({"--shape", "1536x256", "--rows", "1", "--threads", "1", "--ring", "1e8",
                           "--traffic", "2e8", "--seconds-per-row", "0.4"});
  const report::Row& row = run.row();
  const auto fit = row.judgement.fits.find(weigh::Role::kCandidate);
  const double own = fit == row.judgement.fits.end() ? 0 : fit->second.per_dispatch;
  const double ratio = own > 0 ? slowest(row) / own : 0;
  const weigh::Arm* incumbent = weigh::arm_of(row.weighing, weigh::Role::kIncumbent);
  const double fastest = row.screened.empty() ? 0 : row.screened.front().seconds_per_dispatch;
  Outcome outcome{times_as_fast(ratio, "a library"), words_of(row), "", "", false};
  if (incumbent == nullptr || row.screened.size() < 2) return outcome;
  outcome.caught = std::ranges::any_of(row.screened, [&](const report::Screened& screened) {
    return screened.arm == incumbent->name && screened.seconds_per_dispatch <= 1.05 * fastest;
  });
  outcome.gate = outcome.caught ? "incumbent" : "";
  outcome.sentence = fmt::format("the incumbent is {}, the fastest of {} that were tried here",
                                 incumbent->title, row.screened.size());
  return outcome;
}

}  // namespace

const Trap kWeakIncumbent{"T23",
                          "weak-incumbent",
                          "the library that is beaten is not the one to beat",
                          "pegainfer#366 (4-6 %); vllm#35467 (16 %); TileOPs#1898",
                          "Tare's own kernel against the slowest library that is installed",
                          "incumbent",
                          run};

}  // namespace tare::traps
