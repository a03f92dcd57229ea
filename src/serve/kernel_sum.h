// What a plan's kernels would save of one batch of tokens, if nothing else changed: the sum that a
// whole token's win is compared with.
#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "problem/problem.h"

namespace tare::serve {

struct KernelSum {
  std::uint64_t matrices = 0, served = 0;  // that one token reads
  double incumbent_seconds = 0;            // of the served ones
  double candidate_seconds = 0;
  std::uint64_t packed_bytes = 0;

  double saved_seconds() const { return incumbent_seconds - candidate_seconds; }
};

// For batches of `rows` tokens. lm_head is computed for the rows whose logits are asked for, which
// is one: its decision is that of one row.
KernelSum kernel_sum(const plan::Plan& plan, const problem::Model& model, std::uint32_t rows);

}  // namespace tare::serve
