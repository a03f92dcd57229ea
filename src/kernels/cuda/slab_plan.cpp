#include "kernels/cuda/slab_plan.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kMostSplits =
    8;  // the largest cluster that every GPU of 9.0 and later takes
constexpr std::uint32_t kMostWarps = 16;
constexpr std::uint64_t kFloat = sizeof(float);
// A thread block's most: of compute capability 9.0, and of the least among 8.x.
constexpr std::uint64_t kClusterSharedBytes = 227 << 10, kLeastSharedBytes = 99 << 10;

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

// What a plan costs, in bytes that could have been read meanwhile: padding is read, and a thread
// block's bytes wait for one multiprocessor. The constants are an H200's: 132 multiprocessors of
// which each takes some 32 KB at a time. A choice by the device would make bits depend on the grid.
double estimated_cost(const SlabPlan& plan) {
  constexpr double kProcessors = 132, kResident = 2;
  const auto bytes = static_cast<double>(plan.weight_bytes());
  const double per_block = bytes / static_cast<double>(plan.blocks());
  const double waves = std::ceil(static_cast<double>(plan.blocks()) / (kProcessors * kResident));
  const double idle = waves * kProcessors * kResident * per_block - bytes;
  const double narrow = 8192.0 / static_cast<double>(plan.strips);  // inputs are read once a block
  const double handing_over = plan.splits > 1 ? 4096.0 * plan.splits : 0;
  return bytes + 0.5 * idle + 16 * (narrow + handing_over);
}

}  // namespace

std::vector<SlabPlan> slab_plans(std::uint64_t k, std::uint64_t n, bool clusters) {
  std::vector<SlabPlan> plans;
  const std::uint64_t steps = divide_up(k, kSlabDepth);
  const std::uint64_t most_shared = clusters ? kClusterSharedBytes : kLeastSharedBytes;
  for (const std::uint32_t strips : {1U, 2U, 4U})
    for (const std::uint32_t warps_k : {1U, 2U, 4U, 8U, 16U})
      for (std::uint32_t splits = 1; splits <= (clusters ? kMostSplits : 1U); splits *= 2) {
        const std::uint64_t each = divide_up(steps, std::uint64_t{warps_k} * splits);
        const std::uint32_t warps = strips * warps_k;
        // Every thread block of a cluster writes an equal share of the outputs, four at a time.
        const bool even = kSlabOutputs * strips % (4 * splits) == 0;
        if (warps < 4 || warps > kMostWarps || each > kMostSlabSteps || !even) continue;
        const SlabPlan plan{k, n, strips, warps_k, splits, static_cast<std::uint32_t>(each)};
        if (slab_shared_bytes(plan, kMostSlabRows) <= most_shared) plans.push_back(plan);
      }
  return plans;
}

SlabPlan choose_slab_plan(const std::vector<SlabPlan>& plans) {
  return *std::ranges::min_element(plans, {}, estimated_cost);
}

SlabLayout slab_layout(const SlabPlan& plan, std::uint32_t rows) {
  const std::uint64_t padded_rows = divide_up(rows, 8) * 8;
  const std::uint64_t outputs = plan.outputs_per_block();
  const std::uint64_t pitch = divide_up(2 * plan.depth_per_block(), 128) * 128 + 64;
  SlabLayout layout;
  layout.input_pitch = static_cast<std::uint32_t>(pitch);
  layout.partials = static_cast<std::uint32_t>(divide_up(padded_rows * pitch, 128) * 128);
  layout.partial_pitch = static_cast<std::uint32_t>(outputs + 4);
  layout.inbox = static_cast<std::uint32_t>(layout.partials + plan.warps_k * padded_rows *
                                                                  layout.partial_pitch * kFloat);
  layout.bytes = static_cast<std::uint32_t>(layout.inbox + padded_rows * outputs * kFloat);
  return layout;
}

std::uint64_t slab_shared_bytes(const SlabPlan& plan, std::uint32_t rows) {
  return slab_layout(plan, rows).bytes;
}

}  // namespace tare::kernels::cuda
