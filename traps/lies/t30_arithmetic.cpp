// T30: the harness's own arithmetic is wrong.
#include <fmt/format.h>

#include <cmath>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kArithmetic;

namespace {

constexpr double kPlanted = 500e-6;

// Beside others that use the processors, a dispatch takes longer by the clock; Tare says so.
bool right_or_noisy(const report::Row& row, double measured) {
  if (std::fabs(measured / kPlanted - 1) < 0.02) return true;
  return measured > kPlanted && noted_noise(row);
}

Outcome run(const Laboratory& laboratory) {
  const std::string arm = laboratory.arm("known_time");
  const NaivePlan plan;
  const double seconds = run_naively(plan, {arm}).front().mean();
  const double wrong = static_cast<double>(plan.k * plan.n) / seconds / 1e9;
  const Headroom run = laboratory.headroom(hot_row({"--arm", arm}));
  const auto fit = run.row().judgement.fits.find(weigh::Role::kCandidate);
  const double measured = fit == run.row().judgement.fits.end() ? 0 : fit->second.per_dispatch;
  const double right = 2.0 * static_cast<double>(plan.k * plan.n) / kPlanted / 1e9;
  Outcome outcome{fmt::format("{:.2f} GB/s", wrong),
                  fmt::format("{:.1f} us a dispatch, {:.2f} GB/s", 1e6 * measured,
                              run.row().judgement.candidate_gbps),
                  "", "", right_or_noisy(run.row(), measured)};
  if (outcome.caught) outcome.gate = "fit";
  outcome.sentence = fmt::format("planted: 500.0 us, which is {:.2f} GB/s", right);
  return outcome;
}

}  // namespace

const Trap kArithmetic{
    "T30",
    "arithmetic",
    "the harness's own arithmetic is wrong",
    "FBGEMM#166; likwid#195",
    "an arm of exactly 500 us a dispatch, and a harness that takes elements for bytes",
    "fit",
    run};

}  // namespace tare::traps
