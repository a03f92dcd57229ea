#include "prove/compare.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/hash128.h"

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

// 1 when the condition holds, by the sign of a subtraction: all in 32-bit integers, because g++ 12
// gives up on a loop that mixes them with bool (52 ms instead of 16 for 16 MB).
inline std::uint32_t less(std::uint32_t a, std::uint32_t b) {
  return (a - b) >> 31U;
}

// All bits when the flag is 1, none when it is 0.
inline std::uint32_t mask(std::uint32_t flag) {
  return 0U - flag;
}

inline std::uint32_t finite(std::uint32_t bits) {
  return less(bits & kMagnitude, kInfinity);
}

// 0 for a finite number; for the others something that tells +Inf, -Inf and NaN apart.
inline std::uint32_t class_of(std::uint32_t bits) {
  const std::uint32_t nan = less(kInfinity, bits & kMagnitude);
  const std::uint32_t infinite = 1U - nan - finite(bits);
  return nan + (bits & mask(infinite));  // an infinity's pattern has its sign
}

// Bit patterns as integers in the order of the numbers they stand for; both zeros are 0.
inline std::int32_t ordered(std::uint32_t bits) {
  const std::uint32_t negative = mask(bits >> 15U);
  return static_cast<std::int32_t>(((bits & kMagnitude) ^ negative) - negative);
}

// No branches, so that it is vectorised.
Counts count(const Bf16* incumbent, const Bf16* candidate, std::uint32_t elements) {
  Counts counts;
  for (std::uint32_t i = 0; i < elements; ++i) {
    const std::uint32_t a = incumbent[i];
    const std::uint32_t b = candidate[i];
    counts.differing += less(0, a ^ b);
    counts.class_mismatch += less(0, class_of(a) ^ class_of(b));
    counts.non_finite += 1U - finite(b);
    const std::int32_t steps = ordered(a) - ordered(b);
    const auto distance = static_cast<std::uint32_t>(steps < 0 ? -steps : steps);
    const std::uint32_t counted = distance & mask(finite(a) & finite(b));
    counts.max_ulp = counts.max_ulp > counted ? counts.max_ulp : counted;
  }
  return counts;
}

// Of outputs that are equal, as they should be, only this is left to count.
Counts count_equal(const Bf16* output, std::uint32_t elements) {
  Counts counts;
  for (std::uint32_t i = 0; i < elements; ++i) counts.non_finite += 1U - finite(output[i]);
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
    const auto elements = static_cast<std::uint32_t>(std::min(kChunk, incumbent.size() - first));
    const Bf16* a = incumbent.data() + first;
    const Bf16* b = candidate.data() + first;
    const bool equal = std::memcmp(a, b, elements * sizeof(Bf16)) == 0;
    const Counts counts = equal ? count_equal(b, elements) : count(a, b, elements);
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

std::string digest_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(Blame::kInput, "{}: cannot be read.", path.string());
  Hash128 hash;
  std::array<char, 1 << 16> piece;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0)
    hash.add(piece.data(), static_cast<std::size_t>(file.gcount()));
  return hash.hexadecimal();
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
