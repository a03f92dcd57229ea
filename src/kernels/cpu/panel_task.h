// What a panel kernel is given, whatever instruction set it is built for. Plain data, so that the
// objects compiled for different instruction sets share no inline function.
#pragma once

#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {

inline constexpr std::uint64_t kPanelOutputs = 32;

// One thread's part of one dispatch: y[rows, n] = x[rows, k] . W^T for the panels [first_panel,
// last_panel).
struct PanelTask {
  const void* weights = nullptr;  // the whole slot, packed as packing.h says, 64-byte aligned
  const Bf16* x = nullptr;        // [rows, k], dense
  const float* wide_x = nullptr;  // instead of x: f32; of f16 and f32 weights only
  Bf16* y = nullptr;              // [rows, n], dense; only this task's outputs are written
  float* wide_y = nullptr;        // instead of y: the sums themselves, unrounded
  // Of whole panels of outputs, added to their totals before these are rounded; null: nothing is.
  const float* bias = nullptr;
  void* scratch =
      nullptr;  // PanelPath::scratch_bytes(pairs, rows, lanes), 64-byte aligned, this thread's own
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  std::uint64_t rows = 0;
  std::uint64_t pairs = 0;             // of k, rounded up; of f16 and f32 weights: elements
  std::uint64_t chunk_pairs = 0;       // of SumOrder: whole blocks, however long
  std::uint64_t lanes = 1;             // of SumOrder
  bool keeps_subnormals = false;       // of SumOrder
  const std::uint8_t* fold = nullptr;  // of SumOrder; read where there are lanes
  Keep keep = best_keep();             // of weights that are asked for ahead
  std::uint64_t first_panel = 0;
  std::uint64_t last_panel = 0;
};

}  // namespace tare::kernels
