// What the weights of a file stand for, straight from its layout: what the fp64 oracle multiplies.
// Shares nothing with lay_down.h but the numbers' bytes, so that neither can hide an error of the
// other.
#pragma once

#include <cstdint>
#include <vector>

#include "load/stored_matrix.h"

namespace tare::load {

// The weights of output `row` as numbers, [k]: exact, but for MLX's scale * code + bias, which is
// rounded to a double. Throws tare::Error (kInput) where readers differ on what a zero of GPTQ
// means.
void original_row(const StoredMatrix& matrix, std::uint64_t row, std::vector<double>& into);

}  // namespace tare::load
