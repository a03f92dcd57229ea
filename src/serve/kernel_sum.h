// What a plan's kernels would save of one batch of tokens, if nothing else changed: the sum that a
// whole token's win is compared with.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.h"
#include "serve/model_host.h"

namespace tare::serve {

// The decision by which a product of an engine's is served, side by side with others or by itself;
// null: it is left to the engine.
const plan::Decision* serving(const plan::Plan& plan, const Projection& product);

struct KernelSum {
  std::uint64_t matrices = 0, served = 0;  // that the batch is multiplied with
  // Of the served ones, as they were weighed ...
  double incumbent_seconds = 0;
  double candidate_seconds = 0;
  // ... and as they took inside the engine, without the plan and with it.
  double engine_seconds = 0;
  double served_seconds = 0;

  double saved_seconds() const { return incumbent_seconds - candidate_seconds; }
  double saved_inside() const { return engine_seconds - served_seconds; }
};

// `without`, `with`: profiles of the same batches in an engine without the plan and with it
// (ModelHost::profile), each of so many `batches`. A product takes the median over them: one that
// was interrupted counts for nothing. Throws tare::Error (kArm) where the two are not of the same
// products.
KernelSum kernel_sum(const plan::Plan& plan, std::span<const Projection> without,
                     std::span<const Projection> with, std::uint64_t batches);

}  // namespace tare::serve
