// What becomes of a chunk's sums: added to the totals of the panel, which in the end, with the
// bias, are rounded into y. NaN payloads are followed here, apart from the arithmetic, since they
// are rare and what a vector instruction makes of two NaN depends on which operand a compiler put
// first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"
#include "kernels/sum_order.h"

namespace tare::kernels {

// Which NaN a sum is: the one that the instruction set's arithmetic leaves is the one nan_of()
// names; or it is looked up by nan_of(); or every NaN of y is the default one.
enum class Nan { kAsLeft, kLookedUp, kDefault };

// A range of pairs of k.
struct Chunk {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// Adds the sums of a chunk's lanes, [lane][elements], into the first: see SumOrder::fold. Vertical
// additions: each output's lanes lie `elements` apart. A NaN stays one, its payload is not
// followed.
template <typename Isa>
void fold_lanes(const std::uint8_t* distances, float* sums, std::uint64_t elements) {
  const auto fold = [&](std::uint64_t into, std::uint64_t from) {
    float* const a = sums + into * elements;
    const float* const b = sums + from * elements;
    for (std::uint64_t i = 0; i < elements; ++i) a[i] += b[i];
  };
  std::uint64_t gone = 0;  // lanes with one of these bits are added already
  for (std::uint64_t left = Isa::kSumLanes; left > 1; left /= 2) {
    const std::uint64_t distance = *distances++;
    gone |= distance;
    for (std::uint64_t lane = 0; lane < Isa::kSumLanes; ++lane)
      if ((lane & gone) == 0) fold(lane, lane + distance);
  }
}

// a + b, where a NaN b wins over a NaN a, and a NaN made here is the default one.
static inline float add_following_nan(float a, float b) {
  if (b != b) return b;
  if (a != a) return a;
  const float sum = a + b;
  return sum != sum ? std::bit_cast<float>(kDefaultNan) : sum;
}

template <typename Isa>
void add_row_with_nan(const Bf16* x, std::uint64_t k, const Bf16Pair* weights, Chunk chunk,
                      const float* sums, float* totals) {
  for (std::uint64_t j = 0; j < kPanelOutputs; ++j) {
    float sum = sums[j];
    if (sum != sum && Isa::kNan == Nan::kLookedUp) {
      sum = std::bit_cast<float>(nan_of(x, k, weights + j, kPanelOutputs, chunk.first, chunk.last));
    }
    totals[j] = chunk.first == 0 ? sum : add_following_nan(totals[j], sum);
  }
}

// Adds one row's sums of a chunk to its totals, the first chunk replacing them. Returns false, and
// does nothing, where a sum is NaN. Without, the processor's addition gives add_following_nan's
// bits: a NaN total stays, and the one it makes is the default one.
template <typename Isa>
bool add_row(Chunk chunk, const float* sums, float* totals) {
  std::uint32_t any_nan = 0;
  if constexpr (Isa::kNan != Nan::kDefault)
    for (std::uint64_t j = 0; j < kPanelOutputs; ++j) any_nan |= sums[j] != sums[j] ? 1u : 0u;
  if (any_nan != 0) return false;
  if (chunk.first == 0)
    std::memcpy(totals, sums, kPanelOutputs * sizeof(float));
  else
    for (std::uint64_t j = 0; j < kPanelOutputs; ++j) totals[j] += sums[j];
  return true;
}

template <typename Isa>
void add_chunk(const PanelTask& task, const typename Isa::Pair* weights, Chunk chunk,
               const float* sums, float* totals) {
  for (std::uint64_t row = 0; row < task.rows;
       ++row, sums += kPanelOutputs, totals += kPanelOutputs) {
    if (add_row<Isa>(chunk, sums, totals)) continue;
    if constexpr (Isa::kNan != Nan::kDefault)
      add_row_with_nan<Isa>(task.x + row * task.k, task.k, weights, chunk, sums, totals);
  }
}

template <typename Isa>
[[gnu::always_inline]] inline float total_of(float total) {
  return Isa::kNan == Nan::kDefault && total != total ? std::bit_cast<float>(kDefaultNan) : total;
}

template <typename Isa>
[[gnu::always_inline]] inline void store_row(const PanelTask& task, std::uint64_t at,
                                             const float* totals, std::uint64_t outputs) {
  if (task.wide_y != nullptr) {
    for (std::uint64_t j = 0; j < outputs; ++j) task.wide_y[at + j] = total_of<Isa>(totals[j]);
  } else if (task.keeps_subnormals) {
    for (std::uint64_t j = 0; j < outputs; ++j)
      task.y[at + j] = narrow_unflushed(total_of<Isa>(totals[j]));
  } else {
    for (std::uint64_t j = 0; j < outputs; ++j) task.y[at + j] = narrow(total_of<Isa>(totals[j]));
  }
}

// A NaN total stays as it is, whatever the bias: with both NaN, an addition's result would depend
// on which of its operands a compiler put first.
static inline float add_bias(float total, float bias) {
  return total != total ? total : total + bias;
}

static inline void add_bias(const float* bias, std::uint64_t rows, float* totals) {
  for (std::uint64_t row = 0; row < rows; ++row, totals += kPanelOutputs)
    for (std::uint64_t j = 0; j < kPanelOutputs; ++j) totals[j] = add_bias(totals[j], bias[j]);
}

template <typename Isa>
void store_panel(const PanelTask& task, std::uint64_t panel, float* totals) {
  if (task.bias != nullptr) add_bias(task.bias + panel * kPanelOutputs, task.rows, totals);
  const std::uint64_t first = panel * kPanelOutputs;
  const std::uint64_t outputs = task.n - first;
  for (std::uint64_t row = 0; row < task.rows; ++row, totals += kPanelOutputs) {
    const std::uint64_t at = row * task.n + first;
    if (outputs >= kPanelOutputs)
      store_row<Isa>(task, at, totals, kPanelOutputs);  // vectors of a known number
    else
      store_row<Isa>(task, at, totals, outputs);
  }
}

}  // namespace tare::kernels
