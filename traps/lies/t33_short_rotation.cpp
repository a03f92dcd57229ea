// T33: the rotation is longer than the run, and starts anew each time.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kShortRotation;

namespace {

// A number so far below the naive one is another number, whatever this memory streams.
constexpr double kDenied = 0.75;

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.copies = 128;
  plan.restart_after = 8;
  plan.samples = 160;
  const double seconds = run_naively(plan, {laboratory.module("onednn")}).front().median();
  const double naive = 2.0 * static_cast<double>(plan.k * plan.n) / seconds / 1e9;
  const report::Row& row = laboratory.equal_arms();
  const double limit = row.judgement.stream_bytes_per_second / 1e9;
  const double told = row.judgement.incumbent_gbps;
  Outcome outcome{fmt::format("oneDNN reads cold weights at {:.0f} GB/s", naive),
                  fmt::format("{:.1f} GB/s; this memory streams {:.1f}", told, limit), "", "",
                  told > 0 && (told < 1.1 * limit || told < kDenied * naive)};
  if (outcome.caught) outcome.gate = "ring";
  outcome.sentence = "every region starts at the slot that was longest unread";
  return outcome;
}

}  // namespace

const Trap kShortRotation{"T33",
                          "short-rotation",
                          "the rotation is longer than the run, and starts anew each time",
                          "flashinfer#4468",
                          "128 cold copies, of which every run of eight calls takes the same eight",
                          "ring",
                          run};

}  // namespace tare::traps
