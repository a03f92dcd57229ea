// Runs and plans for the tests of this room.
#pragma once

#include "plan/plan.h"
#include "tests/report/samples.h"

namespace tare::plan::fixture {

// A run of two rows, at 1 and 8 tokens: a win and a loss of tare-panel over oneDNN, with digests of
// their modules. `differing`: outputs of the win with other bits.
report::Results results(std::uint64_t differing = 0);

// The same as a plan.
Plan plan(judge::Equality equality = judge::Equality::kIncumbent, std::uint64_t differing = 0);

}  // namespace tare::plan::fixture
