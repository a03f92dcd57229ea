// The limits of a projection's shape.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare::problem {

// No model's dimension comes near: the largest vocabularies are 2^18. What is beyond is a broken
// file.
inline constexpr std::uint64_t kMostDimension = std::uint64_t{1} << 24;
// Bytes of one matrix at two bytes a weight, so that k*n and its sums cannot overflow.
inline constexpr std::uint64_t kMostMatrixBytes = std::uint64_t{1} << 40;

// Throws tare::Error (Blame::kInput), the sentence beginning with `where`, unless 1 <= k, n <=
// kMostDimension and k*n*2 <= kMostMatrixBytes.
void check_shape(std::uint64_t k, std::uint64_t n, std::string_view where);

}  // namespace tare::problem
