// Tokens per second with a plan and without, weighed as a kernel is: the engine by itself is the
// incumbent, and the control in another process; the engine with the plan is the candidate; one
// batch of tokens is a dispatch. The judge, its interval and its gates are those of every row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "serve/model_host.h"
#include "weigh/weighing.h"

namespace tare::serve {

struct TokenSetting {
  ModelHostOptions host;     // with the plan
  Stretch dispatch;          // rows and anew; count is chosen here
  std::uint64_t before = 0;  // tokens that the context holds when a region begins
  // Batches in a region of a round, at most; in a long one there are kLongRounds times as many.
  // Fewer where a batch is slow. Two lengths tell what a region costs by itself: these, or where a
  // round has several batches, stretches of one and of a few right after one another.
  std::uint64_t round_batches = 8;
  double seconds = 30;                  // of regions, at most, for each placement
  std::uint64_t profiled_batches = 15;  // timed product by product in the end
  std::uint64_t seed = 0;
};

struct TokenWeighing {
  weigh::Weighing weighing;
  // Products of the last placement's processes, profiled_batches of them, each timed by itself.
  std::vector<Projection> without, with;
};

inline constexpr std::uint64_t kLongRounds = 4;

// What a verdict over tokens stands on: two sets of fresh processes, each of which must say it.
judge::Rules token_rules();

// Starts the processes, weighs, and ends them. `step` is told what is being done. The weighing's
// problem is one "matrix" of one element: there are no bytes to speak of, and no limit.
TokenWeighing weigh_tokens(const TokenSetting& setting,
                           const std::function<void(const std::string&)>& step);

}  // namespace tare::serve
