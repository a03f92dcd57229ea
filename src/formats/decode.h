// What quantised weights stand for, one output at a time: every format as integer codes with an
// affine map a group, which is what both the fp64 oracle and our kernels' packing start from. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/weight_format.h"

namespace tare::formats {

// One output's weights: w[i] = scale[i / group] * code[i] + bias[i / group]. Scales and biases are
// exact in f32 (Q4_K: an 11-bit d times 6 bits; Q6_K: times 8 bits; zeros: scales times 8 bits).
struct QuantisedRow {
  std::uint64_t group = 0;         // weights of a group
  std::vector<std::int16_t> code;  // [k]: -128..255
  std::vector<float> scale;        // [groups]
  std::vector<float> bias;         // [groups]; empty where the format has none
  std::vector<std::uint8_t> zero;  // [groups], of formats with zeros: what their biases are made of
};

// The 6-bit scales and least values of a Q4_K block's eight sub-blocks, from the 12 bytes that hold
// them.
struct SubBlocks {
  std::uint8_t scale[8];
  std::uint8_t least[8];
};
SubBlocks sub_blocks_of_q4_k(const std::uint8_t* pairs);

// Reads output `row` of W[n, k], laid out as `format` says; `format` is not Family::kPlain. Reuses
// the vectors of `into`.
void decode_row(const WeightFormat& format, std::uint64_t k, std::uint64_t n, const void* weights,
                std::uint64_t row, QuantisedRow& into);

// The weights of one output as numbers, of any format; [k]. In double, where products of scale and
// code are exact.
void dequantise_row(const WeightFormat& format, std::uint64_t k, std::uint64_t n,
                    const void* weights, std::uint64_t row, std::vector<double>& into);

// The bias that lies behind W[n, k] (tare_problem::bias), [n], in f32, which holds it exactly;
// empty where there is none.
std::vector<float> bias_of(const WeightFormat& format, std::uint64_t k, std::uint64_t n,
                           std::uint32_t bias, const void* weights);
std::vector<float> bias_of(const tare_problem& problem, const void* weights);

}  // namespace tare::formats
