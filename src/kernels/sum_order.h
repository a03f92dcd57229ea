// In which order one output's products are added. bf16 outputs hide the order (of 4096 f32 sums in
// another order, some 95 % differ, but after rounding to bf16 about 1 in 10,000 outputs does), so
// an equal output on usual data does not prove it: the tests lay the low bits bare.
#pragma once

#include <cstdint>

namespace tare::kernels {

// k is cut into chunks of this many elements (the last may be shorter). Within a chunk: one f32
// accumulator from zero, k ascending in pairs. Chunk sums are added, one rounding each, in
// ascending order; the total is rounded once to bf16.
struct SumOrder {
  std::uint64_t chunk = 0;  // a positive multiple of 128: whole blocks of the panel kernel
};

// The order of oneDNN 2.6.3's bf16 matmul on AVX-512 BF16 (brg:avx512_core_bf16), found by probing
// its f32 outputs: the same at 1 to 256 rows, 1 to 4096 outputs, k from 500 to 12288 and 1, 2 and 8
// threads.
inline SumOrder onednn_order(std::uint64_t k) {
  return {k <= 1024 ? std::uint64_t{512} : std::uint64_t{1024}};
}

}  // namespace tare::kernels
