// T25: stop when it looks good.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traps/laboratory.h"
#include "traps/statistics.h"

namespace tare::traps {
extern const Trap kOptionalStopping;

namespace {

// Whether Welch's t of the first 5, 6, 7 ... pairs ever calls the two different at 5 %.
bool ever_significant(std::span<const double> a, std::span<const double> b) {
  for (std::size_t n = 5; n <= a.size(); ++n)
    if (std::fabs(welch_t(a.first(n), b.first(n))) > 1.96) return true;
  return false;
}

Outcome run(const Laboratory& laboratory) {
  const report::Row& row = laboratory.equal_arms();
  const auto a = rounds_of(row, weigh::Role::kIncumbent);
  const auto b = rounds_of(row, weigh::Role::kControl);
  constexpr std::size_t kWindow = 20;
  int windows = 0, found = 0;
  for (std::size_t at = 0; at + kWindow <= std::min(a.size(), b.size()); at += kWindow / 4) {
    ++windows;
    found += ever_significant(std::span(a).subspan(at, kWindow), std::span(b).subspan(at, kWindow));
  }
  return found_equal(laboratory,
                     fmt::format("oneDNN differs from itself with p < 0.05 in {} of {} runs that "
                                 "stop when it looks good",
                                 found, windows),
                     "watched interval");
}

}  // namespace

const Trap kOptionalStopping{
    "T25",
    "optional-stopping",
    "stop when it looks good",
    "nvbench: noise stabilised",
    "a t test of a kernel against itself, looked at after every round, on rounds recorded here",
    "watched interval",
    run};

}  // namespace tare::traps
