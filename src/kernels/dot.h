// The dot kernel: one or two vectors of sums an output, k along the lanes, folded at the end
// (docs/kernels/panel.md has why). ggml_order's bits on AVX-512 BF16, as those of ggml itself, at
// the pace of the memory: a panel kernel must keep 16 or 32 sums an output for that order, which
// do not stay in registers.
//
// Weights lie as [n / 8][k / 32][8][32] bf16: of 8 outputs a vector each, side by side, so that a
// thread reads one ascending stream. k is a multiple of 64; n is padded with outputs of zeros.
#pragma once

#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {

inline constexpr std::uint64_t kDotOutputs = 8;
inline constexpr std::uint64_t kDotElements = 32;  // of k, in a vector

struct DotShape {
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  std::uint32_t bias = 0;  // tare_problem::bias

  std::uint64_t panels() const { return (n + kDotOutputs - 1) / kDotOutputs; }
  std::uint64_t panel_elements() const { return k * kDotOutputs; }
  // A bias lies behind all panels: f32 [n].
  std::uint64_t bias_at() const { return panels() * panel_elements() * sizeof(Bf16); }
  std::uint64_t bytes() const { return bias_at() + (bias == 0 ? 0 : n * sizeof(float)); }
};

// Packs the panels [first, last) of W[n, k], row-major. Distinct ranges may be packed by distinct
// threads at the same time.
void pack_for_dots(const DotShape& shape, const Bf16* weights, std::uint64_t first,
                   std::uint64_t last, Bf16* packed);
// Puts the bias that lies behind W (tare/arm.h) at its place; does nothing where there is none.
void pack_bias_for_dots(const DotShape& shape, const void* weights, void* packed);

// One thread's part of one dispatch.
struct DotTask {
  DotShape shape{};
  const Bf16* weights = nullptr;  // the whole slot, packed, 64-byte aligned
  const Bf16* x = nullptr;        // [rows, k], dense
  Bf16* y = nullptr;              // [rows, n], dense; only this task's outputs are written
  float* wide_y = nullptr;        // instead of y: the sums themselves, unrounded
  const float* bias = nullptr;    // [n], added to the sums before they are rounded; null: none
  std::uint64_t rows = 0;
  Keep keep = best_keep();  // of weights that are asked for ahead
  std::uint64_t first_panel = 0;
  std::uint64_t last_panel = 0;
};

// Where the processor has AVX-512 BF16; null elsewhere.
using DotKernel = void (*)(const DotTask& task);
DotKernel dot_kernel();

}  // namespace tare::kernels
