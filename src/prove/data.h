// Classes of data that a proof draws: each shows what the others hide. Counter-based, as
// generator.h: every element is a pure function of class, seed and place, so that every process
// makes the same. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "prove/elements.h"

namespace tare::prove {

enum class Data : std::uint32_t {
  kUsual = 0,   // generator.h's: what is weighed
  kReal,        // as heavy-tailed as a real model's weights (real_weights.h)
  kOneHot,      // x has one element: y is a column of W
  kCancelling,  // sums cancel: what is left are their low bits (see below)
  kIntegers,    // from -8 to 8: every sum is exact in f32, in any order
  kSubnormal,   // every other output's weights, and every other row of x, about the least normal
  kModel,       // the weights of a model's file (WeightKey::model), with x of kReal
  kOnes,        // all weights equal, about 1: what an order of addition is revealed with (reveal.h)
};
inline constexpr Data kProvenData[] = {Data::kUsual,      Data::kReal,     Data::kOneHot,
                                       Data::kCancelling, Data::kIntegers, Data::kSubnormal};
std::string_view name_of(Data data);  // "normal", "real", "one-hot", ...

// What every element is a function of. `type` decides which weights of kCancelling can be copies of
// each other, and how small kSubnormal's are.
struct DataKey {
  Data data = Data::kUsual;
  std::uint32_t type = 0;  // of the weights: TARE_BF16 ...
  std::uint64_t k = 0;
  std::uint64_t seed = 0;
  std::uint64_t slot = 0;
};

// The weights of output `output` before they are rounded to a format, [k]. Not of kModel, whose
// weights are not drawn.
void draw_weights(const DataKey& key, std::uint64_t output, std::span<float> into);

// What is added to output `output`, before it is rounded to the key's type: of the size of y (of a
// weight, where y is one), so that neither hides the other.
float draw_bias(const DataKey& key, std::uint64_t output);

// Row `row` of x, [k]. Every row number stands for one row, whatever dispatch it is part of.
//
// kCancelling: bf16 outputs hide in which order f32 sums were added (sum_order.h), so equal outputs
// of usual data prove little. Here the last but a few of k's blocks are copies of the first ones,
// moved and turned, with x negated: the exact sum is what the few remaining blocks give, made small
// enough that the output's bits are those of f32's rounding errors. Of 16-element runs within whole
// blocks of the format, so that quantised weights are copies, too; where k is shorter than three
// blocks nothing cancels. In the type of `into`.
void draw_row(const DataKey& key, std::uint64_t row, Elements into);

}  // namespace tare::prove
