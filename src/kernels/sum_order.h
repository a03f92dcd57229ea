// In which order one output's products are added. bf16 outputs hide the order (of 4096 f32 sums in
// another order, some 95 % differ, but after rounding to bf16 about 1 in 10,000 outputs does), so
// an equal output on usual data does not prove it: the tests lay the low bits bare.
#pragma once

#include <cstdint>

namespace tare::kernels {

// k is cut into chunks of this many elements (the last may be shorter). Within a chunk: pairs of k,
// ascending, are dealt in turn to `lanes` f32 accumulators from zero, the odd element of a pair
// first. Lanes are then added by halves (lane l and the one half the lanes away, until one is
// left): first within groups of kFoldedLanes, then the groups. Chunk sums are added, one rounding
// each, in ascending order; the total is rounded once to bf16.
struct SumOrder {
  std::uint64_t chunk = 0;  // a positive multiple of 128 and of 16 lanes: whole blocks
  std::uint64_t lanes = 1;  // 1, 16 or 32
  // The last rounding keeps a total that is subnormal; else it becomes zero, as vcvtneps2bf16 does.
  bool keeps_subnormals = false;
};
inline constexpr std::uint64_t kFoldedLanes = 16;

// The order of oneDNN 2.6.3's bf16 matmul on AVX-512 BF16 (brg:avx512_core_bf16), found by probing
// its f32 outputs: the same at 1 to 256 rows, 1 to 4096 outputs, k from 500 to 12288 and 1, 2 and 8
// threads.
inline SumOrder onednn_order(std::uint64_t k) {
  return {k <= 1024 ? std::uint64_t{512} : std::uint64_t{1024}};
}

// The order of ggml 0.25's bf16 mul_mat on AVX-512 BF16, as `tare reveal` shows it
// (docs/orders.md): two vectors of sums at one row, one at more. Where k is a multiple of 64 and,
// for more rows than one, n of 4: else ggml takes other ways.
inline SumOrder ggml_order(std::uint64_t k, std::uint32_t rows) {
  constexpr std::uint64_t kWhole = 512;
  return {(k + kWhole - 1) / kWhole * kWhole, rows == 1 ? std::uint64_t{32} : std::uint64_t{16},
          true};
}

}  // namespace tare::kernels
