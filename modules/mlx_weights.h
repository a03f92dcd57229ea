// Quantised weights as MLX sees them, whichever device it runs on. Symmetric groups of 128 are
// affine ones with a bias of -8 or -128 scales, which bf16 holds exactly: the same weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "module_support.h"
#include "tare/arm.h"

namespace tare::modules {

struct MlxAffine {
  int group = 0;  // 0: not quantised
  int bits = 0;
  bool has_biases = false;  // of its own
  bool f16_scales = false;  // else bf16
  bool has_zeros = false;   // in the place of biases: a byte each

  // What a scale is multiplied with for the bias of a group that has none.
  float bias_in_scales() const { return bits == 4 ? -8.0F : -128.0F; }
};

inline MlxAffine mlx_affine_of(std::uint32_t type) {
  switch (type) {
    case TARE_MLX_INT4_G64:
      return {64, 4, true};
    case TARE_MLX_INT8_G64:
      return {64, 8, true};
    case TARE_MLX_INT4_G64_F16:
      return {64, 4, true, true};
    case TARE_MLX_INT8_G64_F16:
      return {64, 8, true, true};
    case TARE_INT4_G128_ZEROS:
      return {128, 4, true, false, true};
    case TARE_INT4_G128_ZEROS_F16:
      return {128, 4, true, true, true};
    case TARE_INT4_G128:
      return {128, 4, false};
    case TARE_INT4_G128_F16:
      return {128, 4, false, true};
    case TARE_INT8_G128:
      return {128, 8, false};
    case TARE_INT8_G128_F16:
      return {128, 8, false, true};
    default:
      return {};
  }
}

// Throws tare::Error (kArm) for types or sizes that MLX has no product of; `most`: the largest that
// its shapes hold; `biases`: of what types the arm adds.
inline void require_mlx_types(const tare_problem& problem, std::uint64_t most, Biases biases = {}) {
  if (mlx_affine_of(problem.weights).group == 0) return require_bf16(problem, "MLX", most, biases);
  require_common(problem, "MLX", most, biases);
  if (problem.activations != TARE_BF16)
    fail(Blame::kArm, "MLX does not round activations; the problem has {}",
         type_name(problem.activations));
}

// Codes in MLX's words: signed 8-bit ones count from -128 there. `bytes`: a whole number of words.
inline std::vector<std::uint32_t> mlx_codes(const MlxAffine& affine, const std::byte* codes,
                                            std::uint64_t bytes) {
  std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
  std::memcpy(words.data(), codes, bytes);
  if (affine.bits == 8 && !affine.has_biases)
    for (std::uint32_t& word : words) word ^= 0x80808080U;
  return words;
}

}  // namespace tare::modules
