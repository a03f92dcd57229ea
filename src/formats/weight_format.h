// The element types of include/tare/arm.h: their names, and how weights of each lie in memory. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tare/arm.h"

namespace tare::formats {

enum class Family {
  kPlain,   // one number a weight: bf16, f16, f32
  kPlanes,  // all codes, then all scales, then all biases
  kBlocks,  // GGUF
};

struct WeightFormat {
  std::uint32_t type;     // TARE_...
  std::string_view name;  // as options, tables and files write it
  Family family;
  std::uint64_t group;  // weights that share a scale, along k; 0: all of an output's; 1: plain
  std::uint64_t block;  // k must be a multiple of it
  std::uint64_t block_bytes;  // of a block: plain numbers or GGUF blocks; of kPlanes, of the codes
  bool has_bias;              // w = scale * code + bias, with a bias of its own
  // Of kPlanes: element type of the scales, and of the biases; else 0.
  std::uint32_t scales = 0;
  bool has_zeros = false;  // in the place of biases, which then are -scale * zero

  // Of kPlanes: bytes of one bias, or zero.
  std::uint64_t bias_bytes() const { return has_zeros ? 1 : 2; }
};

// All weight formats, in the order of their numbers.
std::span<const WeightFormat> weight_formats();

// Null where there is none.
const WeightFormat* find_format(std::uint32_t type);
const WeightFormat* find_format(std::string_view name);

// Throws tare::Error (Blame::kInput) for a type that is no weight format.
const WeightFormat& format_of(std::uint32_t type);

// "bf16", "q4_k", ... of weights, activations, outputs and accumulators; "" for an unknown number.
std::string_view type_name(std::uint32_t type);
// Bytes of one activation or output as it is handed over: 4 of f32, 2 of all others (rounding to 8
// bits is the arm's).
std::uint64_t value_bytes(std::uint32_t type);
// The number of such a name; 0 for an unknown one.
std::uint32_t type_number(std::string_view name);

// Where the parts of W[n, k] begin, in bytes from its start. Of kPlain and kBlocks all is codes,
// and what is added to outputs.
struct Layout {
  std::uint64_t code_row = 0;     // bytes of one output's codes
  std::uint64_t groups = 0;       // of one output
  std::uint64_t scales = 0;       // where scales begin; 2 bytes each, [n, groups]
  std::uint64_t biases = 0;       // where biases, or zeros, begin; bias_bytes() each
  std::uint64_t output_bias = 0;  // where tare_problem::bias begins
  std::uint64_t total_bytes = 0;  // gaps between the parts included
};

// `bias`: tare_problem's. Throws tare::Error (Blame::kInput) unless k is a whole number of blocks,
// and for a bias of a type that is none of its.
Layout layout_of(const WeightFormat& format, std::uint64_t k, std::uint64_t n,
                 std::uint32_t bias = 0);
Layout layout_of(const tare_problem& problem);

// Throws tare::Error (Blame::kInput), with a sentence that says which k would do.
void require_whole_blocks(const WeightFormat& format, std::uint64_t k);

// Bytes of weights, scales and biases that a dispatch must read, gaps not counted. In double: k * n
// of a hostile shape overflows 64 bits. An unknown type counts two bytes a weight. `bias`:
// tare_problem's.
double weight_bytes(std::uint32_t type, std::uint64_t k, std::uint64_t n, std::uint32_t bias = 0);

}  // namespace tare::formats
