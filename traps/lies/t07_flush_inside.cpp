// T7: the cache is flushed inside the timed part, and the flush subtracted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kFlushInside;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan flushed;
  flushed.flush_bytes = 96'000'000;
  flushed.samples = 8;
  NaivePlan flush_only = flushed;
  flush_only.k = flush_only.n = 16;
  const std::string onednn = laboratory.module("onednn");
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (int look = 0; look < 4; ++look) {
    const double kernel = run_naively(flushed, {onednn}).front().mean() -
                          run_naively(flush_only, {onednn}).front().mean();
    least = std::min(least, kernel);
    most = std::max(most, kernel);
  }
  return found_equal(laboratory,
                     fmt::format("the same kernel takes {:.0f} to {:.0f} us in four looks",
                                 1e6 * least, 1e6 * most),
                     "ring");
}

}  // namespace

const Trap kFlushInside{
    "T7",
    "flush-inside",
    "the cache is flushed inside the timed part, and the flush subtracted",
    "TileOPs#1725; hipBLASLt#2069 (negative time)",
    "a buffer of 96 MB overwritten before every call; the mean flush is taken off again",
    "ring",
    run};

}  // namespace tare::traps
