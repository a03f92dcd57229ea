// Which of our kernels computes a projection, and how it is cut: one choice for k and n, whatever
// the rows, so that a row's bits do not depend on how many there are. Pure arithmetic, built
// everywhere.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kernels/cuda/belt_plan.h"
#include "kernels/cuda/slab_plan.h"

namespace tare::kernels::cuda {

using CutPlan = std::variant<SlabPlan, BeltPlan>;

inline constexpr std::uint32_t kMostCutRows = 32;

// Every cut of every kernel. `clusters`: compute capability 9.0 and later.
std::vector<CutPlan> cut_plans(std::uint64_t k, std::uint64_t n, bool clusters);

// The measured choice where docs/kernels/cuda-plans.md has one, else one that is like them. Throws
// tare::Error (kArm) where no kernel takes so long a k.
CutPlan choose_cut_plan(std::uint64_t k, std::uint64_t n, bool clusters);

std::uint64_t weight_bytes(const CutPlan& plan);
const char* kernel_name(const CutPlan& plan);  // "slab", "belt"
std::string describe(const CutPlan& plan);     // "strips 4, warps_k 2, splits 1, ..."

}  // namespace tare::kernels::cuda
