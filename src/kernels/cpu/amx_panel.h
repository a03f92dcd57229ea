// The panel kernel on tiles of 16 rows (AMX), over the packing of packing.h: 16 pairs of 16 outputs
// of a panel are a tile as they lie there. Up to 32 rows are two tiles of x by two of a panel, so
// that each tile that is loaded is multiplied twice.
//
// The order of additions is the instruction's own (TDPBF16PS): of 16 pairs at a time the products
// of even and of odd elements are added apart, k ascending from zero, the two sums then, and they
// to the total. Every row of a tile is a row of its own: its bits do not depend on how many there
// are. k is padded with zeros to whole tiles.
//
// A Unit says, of tiles numbered 0 to 7: configure(rows) of x's two tiles, release(), zero<t>(),
// load<t>(from, stride), load_once<t>(from, stride), store<t>(into, stride), multiply<sum, x, w>().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/chunk_sums.h"
#include "kernels/cpu/panel_task.h"

namespace tare::kernels {

inline constexpr std::uint64_t kAmxRows = 16;
inline constexpr std::uint64_t kAmxPairs = 16;  // of k, in a tile
inline constexpr std::uint64_t kAmxTileBytes = 1024;
inline constexpr std::uint64_t kAmxMostRows = 2 * kAmxRows;
inline constexpr std::uint64_t kAmxPanelRow = kPanelOutputs * sizeof(Bf16Pair);  // bytes of a pair
inline constexpr std::uint64_t kAmxAhead = 8192;

// What lies in a thread's scratch: the totals of a panel, [row][kPanelOutputs]; the last block of
// its weights, filled up with zeros; and x, [block][tile of rows][row][pair].
struct AmxScratch {
  static std::uint64_t blocks_of(std::uint64_t pairs) {
    return (pairs + kAmxPairs - 1) / kAmxPairs;
  }
  static std::uint64_t bytes(std::uint64_t pairs) {
    return kAmxMostRows * kPanelOutputs * sizeof(float) + kAmxPairs * kAmxPanelRow +
           blocks_of(pairs) * 2 * kAmxTileBytes;
  }
  explicit AmxScratch(void* memory)
      : totals(static_cast<float*>(memory)),
        last(reinterpret_cast<std::byte*>(totals + kAmxMostRows * kPanelOutputs)),
        x(last + kAmxPairs * kAmxPanelRow) {}

  float* totals;
  std::byte* last;
  std::byte* x;
};

template <typename Unit>
void arrange_for_amx(const PanelTask& task, std::byte* into) {
  const std::uint64_t bytes = AmxScratch::blocks_of(task.pairs) * 2 * kAmxTileBytes;
  std::memset(into, 0, bytes);
  constexpr std::uint64_t kBlock = kAmxPairs * sizeof(Bf16Pair);  // bytes of a row
  for (std::uint64_t row = 0; row < task.rows; ++row) {
    const auto* from = reinterpret_cast<const std::byte*>(task.x + row * task.k);
    std::byte* to = into + row / kAmxRows * kAmxTileBytes + row % kAmxRows * kBlock;
    for (std::uint64_t left = task.k * sizeof(Bf16); left > 0;) {
      const std::uint64_t some = left < kBlock ? left : kBlock;
      std::memcpy(to, from, some);
      left -= some;
      from += some;
      to += 2 * kAmxTileBytes;
    }
  }
}

// One block of 16 pairs. Tiles 0 to 3 are sums, [tile of rows][half of the panel]; 4 and 5 weights;
// 6 and 7 x.
template <typename Unit, bool kTwo>
void multiply_amx_block(const std::byte* weights, const std::byte* x) {
  Unit::template load_once<4>(weights, kAmxPanelRow);
  Unit::template load_once<5>(weights + kAmxPanelRow / 2, kAmxPanelRow);
  Unit::template load<6>(x, kAmxPairs * sizeof(Bf16Pair));
  Unit::template multiply<0, 6, 4>();
  Unit::template multiply<1, 6, 5>();
  if constexpr (kTwo) {
    Unit::template load<7>(x + kAmxTileBytes, kAmxPairs * sizeof(Bf16Pair));
    Unit::template multiply<2, 7, 4>();
    Unit::template multiply<3, 7, 5>();
  }
}

template <typename Unit, bool kTwo>
void run_amx_panel(const PanelTask& task, std::uint64_t panel, const std::byte* weights,
                   const std::byte* end, const AmxScratch& scratch) {
  Unit::template zero<0>();
  Unit::template zero<1>();
  if constexpr (kTwo) {
    Unit::template zero<2>();
    Unit::template zero<3>();
  }
  constexpr std::uint64_t kBlockBytes = kAmxPairs * kAmxPanelRow;
  const std::byte* x = scratch.x;
  for (std::uint64_t block = 0; block < task.pairs / kAmxPairs; ++block) {
    if (weights + kAmxAhead < end) {
      for (std::uint64_t at = 0; at < kBlockBytes; at += 64)
        __builtin_prefetch(weights + kAmxAhead + at);
    }
    multiply_amx_block<Unit, kTwo>(weights, x);
    weights += kBlockBytes;
    x += 2 * kAmxTileBytes;
  }
  if (const std::uint64_t left = task.pairs % kAmxPairs; left > 0) {
    std::memset(scratch.last, 0, kBlockBytes);
    std::memcpy(scratch.last, weights, left * kAmxPanelRow);
    multiply_amx_block<Unit, kTwo>(scratch.last, x);
  }
  constexpr std::uint64_t kRow = kPanelOutputs * sizeof(float);
  constexpr std::uint64_t kHalf = kPanelOutputs / 2;
  Unit::template store<0>(scratch.totals, kRow);
  Unit::template store<1>(scratch.totals + kHalf, kRow);
  if constexpr (kTwo) {
    Unit::template store<2>(scratch.totals + kAmxRows * kPanelOutputs, kRow);
    Unit::template store<3>(scratch.totals + kAmxRows * kPanelOutputs + kHalf, kRow);
  }
  store_panel<Unit>(task, panel, scratch.totals);
}

// At most kAmxMostRows rows.
template <typename Unit, bool kTwo>
void run_amx_rows(const PanelTask& task) {
  const AmxScratch scratch(task.scratch);
  arrange_for_amx<Unit>(task, scratch.x);
  const std::uint64_t panel_bytes = task.pairs * kAmxPanelRow;
  const auto* weights = static_cast<const std::byte*>(task.weights);
  const std::byte* const end = weights + task.last_panel * panel_bytes;
  Unit::configure(kTwo ? kAmxRows : task.rows, kTwo ? task.rows - kAmxRows : 0);
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel)
    run_amx_panel<Unit, kTwo>(task, panel, weights + panel * panel_bytes, end, scratch);
  Unit::release();
}

template <typename Unit>
void run_amx(const PanelTask& task) {
  for (std::uint64_t first = 0; first < task.rows; first += kAmxMostRows) {
    PanelTask some = task;
    const std::uint64_t left = task.rows - first;
    some.rows = left < kAmxMostRows ? left : kAmxMostRows;
    some.x += first * task.k;
    if (some.wide_y != nullptr)
      some.wide_y += first * task.n;
    else
      some.y += first * task.n;
    if (some.rows > kAmxRows)
      run_amx_rows<Unit, true>(some);
    else
      run_amx_rows<Unit, false>(some);
  }
}

}  // namespace tare::kernels
