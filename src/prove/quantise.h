// Rounds one output's weights to a format, by the rules of the library that made it common.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/weight_format.h"

namespace tare::prove {

// Where one output's parts lie; scales and biases only where the format has planes of them.
struct RowParts {
  std::uint8_t* codes = nullptr;
  std::uint8_t* scales = nullptr;
  std::uint8_t* biases = nullptr;  // or zeros
};

// `weights` are whole blocks of the format. The same bits on every compiler and instruction set:
// f32 arithmetic that is not contracted (src/prove/CMakeLists.txt).
void quantise_row(const formats::WeightFormat& format, std::span<const float> weights,
                  const RowParts& into);

// The instruction sets the quantiser is compiled for; quantise_row() takes the last (fastest) one
// that this processor has.
struct QuantiserPath {
  std::string name;  // "portable", "AVX2", "AVX-512"
  void (*quantise)(const formats::WeightFormat& format, std::span<const float> weights,
                   const RowParts& into);
};
std::vector<QuantiserPath> quantiser_paths();

}  // namespace tare::prove
