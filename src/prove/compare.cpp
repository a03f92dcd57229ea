#include "prove/compare.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace tare::prove {
namespace {

constexpr Bf16 kPoison[2] = {
    0x7FD5,  // a quiet NaN with payload 0x15: an implementation that reads y makes NaNs of it
    0x7F6B,  // 3.1e38, finite: 0 * it is not NaN, so reading y shows differently
};

constexpr std::uint32_t kMagnitude = 0x7FFF;
constexpr std::uint32_t kInfinity = 0x7F80;

// Elements counted in 32 bits before they are added up in 64; fits the first-level cache.
constexpr std::size_t kChunk = 4096;

struct Counts {
  std::uint32_t differing = 0;
  std::uint32_t class_mismatch = 0;
  std::uint32_t non_finite = 0;
  std::uint32_t max_ulp = 0;
};

// 0 for a finite number; for the others something that tells +Inf, -Inf and NaN apart.
inline std::uint32_t class_of(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & kMagnitude;
  const std::uint32_t infinite = magnitude == kInfinity ? bits : 0;  // sign included
  return magnitude > kInfinity ? 1 : infinite;
}

// Bit patterns as integers in the order of the numbers they stand for; both zeros are 0.
inline std::int32_t ordered(std::uint32_t bits) {
  const auto magnitude = static_cast<std::int32_t>(bits & kMagnitude);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

inline bool finite(std::uint32_t bits) {
  return (bits & kMagnitude) < kInfinity;
}

// No branches, so that it is vectorised.
Counts count(const Bf16* incumbent, const Bf16* candidate, std::size_t elements) {
  Counts counts;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint32_t a = incumbent[i];
    const std::uint32_t b = candidate[i];
    counts.differing += static_cast<std::uint32_t>(a != b);
    counts.class_mismatch += static_cast<std::uint32_t>(class_of(a) != class_of(b));
    counts.non_finite += static_cast<std::uint32_t>(!finite(b));
    const std::int32_t steps = ordered(a) - ordered(b);
    const auto distance = static_cast<std::uint32_t>(steps < 0 ? -steps : steps);
    const bool both_finite = finite(a) & finite(b);
    counts.max_ulp = std::max(counts.max_ulp, both_finite ? distance : 0U);
  }
  return counts;
}

}  // namespace

Difference compare_bits(std::span<const Bf16> incumbent, std::span<const Bf16> candidate) {
  if (incumbent.size() != candidate.size()) {
    fail(Blame::kArm,
         "outputs of {} and {} elements cannot be compared: give both arms one problem",
         incumbent.size(), candidate.size());
  }
  Difference difference;
  difference.elements = incumbent.size();
  for (std::size_t first = 0; first < incumbent.size(); first += kChunk) {
    const std::size_t elements = std::min(kChunk, incumbent.size() - first);
    const Counts counts = count(incumbent.data() + first, candidate.data() + first, elements);
    difference.differing += counts.differing;
    difference.class_mismatch += counts.class_mismatch;
    difference.non_finite += counts.non_finite;
    difference.max_ulp = std::max(difference.max_ulp, counts.max_ulp);
  }
  return difference;
}

std::uint64_t digest(std::span<const Bf16> output) {
  return XXH3_64bits(output.data(), output.size_bytes());
}

void poison(std::span<Bf16> output, int which) {
  std::fill(output.begin(), output.end(), kPoison[which & 1]);
}

std::uint64_t count_unwritten(std::span<const Bf16> after_0, std::span<const Bf16> after_1) {
  std::uint64_t unwritten = 0;
  for (std::size_t i = 0; i < std::min(after_0.size(), after_1.size()); ++i) {
    unwritten +=
        static_cast<std::uint64_t>((after_0[i] == kPoison[0]) & (after_1[i] == kPoison[1]));
  }
  return unwritten;
}

float to_float(Bf16 bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  // Rounding a NaN could carry into Inf or into the sign; it is cut instead, and made quiet.
  if (nan) return static_cast<Bf16>((bits >> 16U) | 0x40U);
  return static_cast<Bf16>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace tare::prove
