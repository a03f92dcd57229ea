// Weights of every format of tare/arm.h, made by the counter-based generators: the values of
// draw_weights (data.h), rounded to the format as the library that made it common does it,
// so that scales, biases and codes are distributed as in real files. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <vector>

#include "load/stored_matrix.h"
#include "prove/data.h"
#include "tare/arm.h"

namespace tare::prove {

// Which weights: W[n, k] of one slot of one ring, and its bias[n]. Every output is a pure function
// of all but n.
struct WeightKey {
  std::uint32_t type = 0;  // TARE_BF16 ...
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  std::uint64_t seed = 0;
  std::uint64_t slot = 0;
  Data data = Data::kUsual;
  std::uint32_t bias = 0;  // tare_problem's
  // Of Data::kModel, k x n: seed and slot are not looked at. Must outlive the key.
  const load::StoredMatrix* model = nullptr;
};

// Fills `into`, weight_buffer_bytes(key) long and 64-byte aligned. Throws tare::Error (kInput)
// where the format does not take that k, or not the model's weights without rounding.
void generate_slot(const WeightKey& key, void* into);
std::uint64_t weight_buffer_bytes(const WeightKey& key);

// The weights of one output as numbers, [k], exactly those that generate_slot() lays down: made
// anew, read back with formats::dequantise_row. A model's are read in the layout of its file.
void generate_row(const WeightKey& key, std::uint64_t row, std::vector<double>& into);

// What is added to one output, as generate_slot() lays it down; 0 where nothing is.
double generate_bias(const WeightKey& key, std::uint64_t row);

}  // namespace tare::prove
