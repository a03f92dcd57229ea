// Which of our kernels computes a projection, and how it is cut: one choice for the type of the
// weights, k and n, whatever the rows, so that a row's bits do not depend on how many there are.
// Pure arithmetic, built everywhere.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kernels/cuda/belt_plan.h"
#include "kernels/cuda/grouped_plan.h"
#include "kernels/cuda/slab_plan.h"

namespace tare::kernels::cuda {

using CutPlan = std::variant<SlabPlan, BeltPlan, GroupedPlan>;

inline constexpr std::uint32_t kMostCutRows = 32;

// `weights`: their type, TARE_... of tare/arm.h, laid out as it says. `clusters`: what
// slab_support() says; compute capability 9.0 and later.
struct CutProblem {
  std::uint32_t weights = TARE_BF16;
  std::uint64_t k = 0, n = 0;
  bool clusters = false;
};

// Every cut of every kernel.
std::vector<CutPlan> cut_plans(const CutProblem& problem);

// The measured choice where docs/kernels/cuda-plans.md or cuda-grouped.md has one, else one that is
// like them. Throws tare::Error (kArm) where no kernel takes such weights or so long a k.
CutPlan choose_cut_plan(const CutProblem& problem);

std::uint64_t weight_bytes(const CutPlan& plan);
const char* kernel_name(const CutPlan& plan);   // "slab", "belt", "grouped"
const char* product_name(const CutPlan& plan);  // the instruction that multiplies
std::string describe(const CutPlan& plan);      // "strips 4, warps_k 2, splits 1, ..."

}  // namespace tare::kernels::cuda
