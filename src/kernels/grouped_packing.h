// How quantised weights lie for the grouped kernels: panels of 64 outputs, each one ascending
// stream of blocks of 128 weights along k. A block holds its groups one after the other, and a
// group its scales, its biases, and its codes pair after pair of k, the 64 outputs side by side:
//
//   scales    [64], 16 bits: bf16 or f16 as the format has them
//   biases    [64], of the same type, where the format has them, or zeros
//   codes     as kernels/cpu/code_words.h says
//
// Codes are signed: those that a format stores from zero up have half their range taken off, which
// the kernel makes good in the bias.
//
// For activations that are rounded to 8 bits, codes are unsigned and four of k lie together:
//
//   codes     8 bits: four of output 0, four of output 1, ... (256 bytes)
//             4 bits: 128 bytes; of each 64 the low halves are those of 16 outputs, the high halves
//             those of the next 16
//             5 and 6 bits: the low four so; then the fifth bits of 16 outputs in 8 bytes, or a
//             byte for four columns' two upper bits
//   Q4_K, Q6_K    in front of every 256 weights d [64] (and dmin [64]), f16; scales (and biases) of
//             a group are a byte each
//
// n is padded with outputs of zeros. Of int8 with one scale an output, groups are 128 weights and
// repeat it (1.6 % more to read), and the last one may be short. A bias of outputs lies behind all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/weight_format.h"
#include "kernels/cpu/grouped_task.h"

namespace tare::kernels {

// True for the formats that pack_grouped() knows, with bf16 or with rounded activations.
bool is_grouped(std::uint32_t type, std::uint32_t activations);

// What the kernels must know of W[n, k] of such a format; `bias`: tare_problem's. Throws
// tare::Error (Blame::kInput) where the format does not take that k, or is not known here.
GroupedShape grouped_shape(std::uint32_t type, std::uint32_t activations, std::uint64_t k,
                           std::uint64_t n, std::uint32_t bias = 0);

// Packs the panels [first, last) of W[n, k], laid out as tare/arm.h says, into `packed`, which
// holds shape.bytes(); not the bias. Distinct ranges may be packed by distinct threads at the same
// time.
void pack_grouped(const GroupedShape& shape, std::uint32_t type, const void* weights,
                  std::uint64_t first, std::uint64_t last, std::byte* packed);

// Puts the bias that lies behind W at its place in `packed`; does nothing where the shape has none.
void pack_grouped_bias(const GroupedShape& shape, std::uint32_t type, const void* weights,
                       std::byte* packed);

}  // namespace tare::kernels
