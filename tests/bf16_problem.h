#pragma once

#include <cstdint>

#include "tare/arm.h"

namespace tare {

inline tare_problem bf16_problem(std::uint64_t k, std::uint64_t n, std::uint32_t rows) {
  return {.k = k,
          .n = n,
          .rows = rows,
          .weights = TARE_BF16,
          .activations = TARE_BF16,
          .output = TARE_BF16,
          .accumulator = TARE_F32,
          .bias = 0};
}

}  // namespace tare
