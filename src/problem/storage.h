// How a model file stores the weights of one matrix W[n, k], and where they lie in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tare::problem {

// Codes of `bits` bits; w = scale * (code - zero) or scale * code + bias, with a scale for every
// `group` weights that follow each other along k. Packed ones lie in little-endian 32-bit words,
// the first code in the low bits.
enum class Scheme : std::uint32_t {
  kUnknown,     // only its shape is known, or nothing here reads it
  kPlain,       // [n, k]: bf16, f16 or f32
  kBlocks,      // GGUF: [n, k / weights of a block]; scales inside
  kMlx,         // codes [n, k] along k; scales and biases [n, groups]
  kGptq,        // codes [k, n], words along k; scales [groups, n]; zeros [groups, n] along n
  kAwq,         // codes [k, n], words along n, whose eight are 0, 2, 4, 6, 1, 3, 5, 7; scales
                // [groups, n]; zeros as codes
  kCompressed,  // compressed-tensors: codes [n, k] along k; scales [n, groups]; zeros [n, groups]
                // along n, or none: then half of the codes' range
  kInt8,        // int8 [n, k]; scales [n]
};

// Bytes of a file that hold one tensor. No bytes: there is none.
struct Piece {
  std::filesystem::path file;
  std::uint64_t offset = 0;  // from the file's start
  std::uint64_t bytes = 0;
  std::string type;  // of its elements, as the file says: "F16"
};

struct Storage {
  Scheme scheme = Scheme::kUnknown;
  std::uint32_t bits = 0;            // of a code
  std::uint64_t group = 0;           // weights of a scale
  bool zeros_less_one = false;       // zeros are stored less one (GPTQ of before v2)
  bool reordered = false;            // `order` is not i / group
  bool has_zeros = false;            // some zero is not half of the codes' range
  Piece codes{}, scales{}, zeros{};  // zeros: the biases of kMlx
  Piece order{};                     // int32 [k]: the group of each of k (act-order)
};

// What tables and files call it: "gptq4-g128-f16", "awq4-g128-zeros-f16", "mlx4-g64",
// "ct8-channel", "gptq4-g128-act-order-f16". The element type stands last where scales are not
// bf16. Of kPlain and kBlocks it is the file's own word.
std::string name_of(const Storage& storage, std::uint64_t k);

// What weights stored under such a name are weighed as.
struct WeighedAs {
  std::uint32_t type = 0;  // of tare/arm.h; 0: nothing here has as many bits
  bool itself = false;     // that very format, and not the nearest one
  double bits = 0;         // of a weight as stored, with its part of scales and zeros
};

// The format itself; else the nearest of equal codes, where its bytes are within a tenth of what is
// stored; else none.
WeighedAs weighed_as(std::string_view stored);

}  // namespace tare::problem
