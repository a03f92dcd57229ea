// What a grouped kernel is given, whatever instruction set it is built for. Plain data, so that the
// objects compiled for different instruction sets share no inline function that is not trivial.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {

// Of a panel of grouped weights: a group is read whole, with its scales.
inline constexpr std::uint64_t kGroupedOutputs = 64;

enum class ScaleType : std::uint32_t {
  kBf16,
  kF16,
  kTwoLevel,  // a byte a group, times a f16 for every 256 weights; biases alike
};

// W[n, k] as packed (grouped_packing.h).
struct GroupedShape {
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  std::uint32_t bits = 8;         // of a code: 8 or 4
  std::uint32_t group_pairs = 0;  // of k that share a scale; divides 64
  ScaleType scales = ScaleType::kBf16;
  bool biased = false;
  bool zeros = false;           // in the place of biases, which are -scale * zero
  bool rounds_x = false;        // for activations that are rounded to 8 bits
  std::int32_t zero_point = 0;  // of codes for those: w = scale * (code - zero_point) + bias
  std::uint32_t bias = 0;       // of outputs: tare_problem::bias

  std::uint64_t pairs() const { return k / 2 + k % 2; }
  std::uint64_t groups() const { return (pairs() + group_pairs - 1) / group_pairs; }
  std::uint64_t panels() const { return (n + kGroupedOutputs - 1) / kGroupedOutputs; }
  // Of a group's scales, of its biases; of the block's factors of one of them.
  std::uint64_t plane_bytes() const {
    return kGroupedOutputs * (scales == ScaleType::kTwoLevel ? 1 : 2);
  }
  std::uint64_t pair_bytes() const { return kGroupedOutputs * 2 * bits / 8; }
  std::uint64_t group_bytes() const {
    return plane_bytes() * (biased ? 2 : 1) + group_pairs * pair_bytes();
  }
  // In front of the groups of every 256 weights.
  std::uint64_t header_bytes() const {
    return scales == ScaleType::kTwoLevel ? kGroupedOutputs * 2 * (biased ? 2 : 1) : 0;
  }
  std::uint64_t headers() const { return (k + 255) / 256; }
  std::uint64_t panel_bytes() const {
    return groups() * group_bytes() + headers() * header_bytes();
  }
  // A bias lies behind all panels: f32 [n].
  std::uint64_t bias_at() const { return panels() * panel_bytes(); }
  std::uint64_t bytes() const { return bias_at() + (bias == 0 ? 0 : n * sizeof(float)); }
};

// One thread's part of one dispatch: y[rows, n] = x[rows, k] . W^T for the panels [first_panel,
// last_panel).
struct GroupedTask {
  GroupedShape shape{};
  const std::byte* weights = nullptr;  // the whole slot, packed, 64-byte aligned
  const Bf16* x = nullptr;             // [rows, k], dense
  Bf16* y = nullptr;                   // [rows, n], dense; only this task's outputs are written
  // Instead of x and of y, with rounded activations: f32, as an engine hands them over that keeps
  // nothing in bf16. The sums are the same; y is them, unrounded.
  const float* wide_x = nullptr;
  float* wide_y = nullptr;
  // [n], added to the totals before they are rounded; null: nothing is.
  const float* bias = nullptr;
  void* scratch = nullptr;  // GroupedPath::scratch_bytes(), 64-byte aligned, this thread's
  std::uint64_t rows = 0;
  std::uint64_t first_panel = 0;
  std::uint64_t last_panel = 0;
};

// The grouped kernel for one instruction set. All give the same bits.
struct GroupedPath {
  const char* name;  // as TARE_CPU_ISA takes it
  const char* isa;   // as a record prints it
  const char* tile;
  std::uint64_t (*scratch_bytes)(const GroupedShape& shape, std::uint64_t rows);  // one thread's
  void (*run)(const GroupedTask& task);
};

}  // namespace tare::kernels
