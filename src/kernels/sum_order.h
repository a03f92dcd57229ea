// In which order one output's products are added. bf16 outputs hide the order (of 4096 f32 sums in
// another order, some 95 % differ, but after rounding to bf16 about 1 in 10,000 outputs does), so
// an equal output on usual data does not prove it: the tests lay the low bits bare.
#pragma once

#include <array>
#include <cstdint>

#include "tare/arm.h"

namespace tare::kernels {

// k is cut into chunks of this many elements (the last may be shorter). Within a chunk: pairs of k,
// ascending, are dealt in turn to `lanes` f32 accumulators from zero, the odd element of a pair
// first (or the even one); of f16 and f32 weights, elements. Lanes are then added by halves, as
// `fold` says, until one is left. Chunk sums are added, one rounding each, in ascending order; the
// total is rounded once to bf16.
struct SumOrder {
  std::uint64_t chunk = 0;  // a positive multiple of 128 and of 16 lanes: whole blocks
  std::uint64_t lanes = 1;  // 1, 16 or 32
  // The last rounding keeps a total that is subnormal; else it becomes zero, as vcvtneps2bf16 does.
  bool keeps_subnormals = false;
  // How far apart the lanes lie that are added, step by step; of so many lanes the first steps.
  // Within a vector the far ones first; then vector by vector.
  std::array<std::uint8_t, 5> fold{8, 4, 2, 1, 16};
  // Of a pair the even element is added first: then the elements of pairs change places in the
  // packed weights and in x (packing.h), and k is even.
  bool even_first = false;
};

// Vectors by halves, but the last four lanes neighbour by neighbour, as vhaddps does.
inline constexpr std::array<std::uint8_t, 5> kNeighboursFold{8, 4, 1, 2, 16};

// All of k as one chunk.
inline std::uint64_t whole_chunk(std::uint64_t k) {
  constexpr std::uint64_t kWhole = 512;
  return (k + kWhole - 1) / kWhole * kWhole;
}

// The order of oneDNN 2.6.3's bf16 matmul on AVX-512 BF16 (brg:avx512_core_bf16), found by probing
// its f32 outputs: the same at 1 to 256 rows, 1 to 4096 outputs, k from 500 to 12288 and 1, 2 and 8
// threads.
inline SumOrder onednn_order(std::uint64_t k) {
  return {k <= 1024 ? std::uint64_t{512} : std::uint64_t{1024}};
}

// That of oneDNN 2.6.3's bf16 inner product there (brgemm:avx512_core_bf16; 1 to 32 rows, 16 to
// 1536 outputs) where k is a multiple of 16, else the rest is a chunk of its own: chunks of so many
// of k's blocks of 16 as divide them, at most 64; of 64 and a rest where no divisor is near (seen:
// 23 and more are taken, 13 is not).
inline SumOrder onednn_ip_order(std::uint64_t k, std::uint32_t) {
  constexpr std::uint64_t kBlock = 16, kMostBlocks = 64, kFewestBlocks = 16;
  if (k <= kBlock * kMostBlocks) return {whole_chunk(k)};
  const std::uint64_t blocks = k / kBlock;
  for (std::uint64_t divisor = kMostBlocks; divisor >= kFewestBlocks; --divisor)
    if (blocks % divisor == 0) return {kBlock * divisor};
  return {kBlock * kMostBlocks};
}

// That of oneDNN 3.13 there, where one row has a kernel of its own: one vector of sums over all of
// k. (oneDNN 3.2 has not, and adds as 2.6.3 at every row count.)
inline SumOrder onednn3_order(std::uint64_t k, std::uint32_t rows) {
  if (rows > 1) return onednn_order(k);
  return {whole_chunk(k), 16, false, kNeighboursFold};
}

// The order of ggml 0.25's bf16 mul_mat on AVX-512 BF16, as `tare reveal` shows it
// (docs/orders.md): two vectors of sums at one row, one at more. Where k is a multiple of 64 and,
// for more rows than one, n of 4: else ggml takes other ways.
inline SumOrder ggml_order(std::uint64_t k, std::uint32_t rows) {
  return {whole_chunk(k), rows == 1 ? std::uint64_t{32} : std::uint64_t{16}, true};
}

// The order of MLX 0.32's bf16 matmul on x86-64: one sum over all of k, element after element.
inline SumOrder mlx_order(std::uint64_t k, std::uint32_t) {
  SumOrder order{whole_chunk(k)};
  order.keeps_subnormals = order.even_first = true;
  return order;
}

// Of f32 weights, whose k is added element by element: that of oneDNN 2.6.3's f32 matmul on AVX-512
// (brg:avx512_core), whose chunks are those of its bf16 one.
inline SumOrder f32_order(std::uint64_t k) {
  SumOrder order = onednn_order(k);
  order.keeps_subnormals = true;
  return order;
}

// Of f16 weights, which no library's order is worth copying for: chunks of few terms, so that sums
// err less than ggml's 16 and 32 lanes do (docs/kernels/panel.md). Within a chunk, so many elements
// after each other are added from zero, and these sums in ascending order.
inline constexpr std::uint64_t kF16Run = 16;
inline SumOrder f16_order() {
  SumOrder order{128};
  order.keeps_subnormals = true;
  return order;
}

// Of TARE_F16 or TARE_F32 weights.
inline SumOrder float_order(std::uint64_t k, std::uint32_t weights) {
  return weights == TARE_F16 ? f16_order() : f32_order(k);
}

}  // namespace tare::kernels
