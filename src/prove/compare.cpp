#include "prove/compare.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/hash128.h"
#include "formats/half.h"

namespace tare::prove {
namespace {

// As bf16; of f32 the same numbers (pattern_in).
constexpr Bf16 kPoison[2] = {
    0x7FD5,  // a quiet NaN with payload 0x15: an implementation that reads y makes NaNs of it
    0x7F6B,  // 3.1e38, finite: 0 * it is not NaN, so reading y shows differently
};

// Bit patterns of a type: all but the sign, and infinity.
template <typename Bits>
inline constexpr std::uint32_t kMagnitude = static_cast<Bits>(~Bits{0}) >> 1U;
template <typename Bits>
inline constexpr std::uint32_t kInfinity = 0x7F80U << (8 * sizeof(Bits) - 16);

// Elements counted in 32 bits before they are added up in 64; fits the first-level cache.
constexpr std::size_t kChunk = 4096;

struct Counts {
  std::uint32_t differing = 0;
  std::uint32_t class_mismatch = 0;
  std::uint32_t non_finite = 0;
  std::uint32_t max_ulp = 0;
};

// 1 when the condition holds, by the sign of a subtraction: all in 32-bit integers, because g++ 12
// gives up on a loop that mixes them with bool (52 ms instead of 16 for 16 MB). Both below 2^31.
inline std::uint32_t less(std::uint32_t a, std::uint32_t b) {
  return (a - b) >> 31U;
}

inline std::uint32_t differ(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t bits = a ^ b;
  return (bits | (0U - bits)) >> 31U;
}

// All bits when the flag is 1, none when it is 0.
inline std::uint32_t mask(std::uint32_t flag) {
  return 0U - flag;
}

template <typename Bits>
inline std::uint32_t finite(std::uint32_t bits) {
  return less(bits & kMagnitude<Bits>, kInfinity<Bits>);
}

// 0 for a finite number; for the others something that tells +Inf, -Inf and NaN apart.
template <typename Bits>
inline std::uint32_t class_of(std::uint32_t bits) {
  const std::uint32_t nan = less(kInfinity<Bits>, bits & kMagnitude<Bits>);
  const std::uint32_t infinite = 1U - nan - finite<Bits>(bits);
  return nan + (bits & mask(infinite));  // an infinity's pattern has its sign
}

// Bit patterns as integers in the order of the numbers they stand for; both zeros are 0.
template <typename Bits>
inline std::int32_t ordered(std::uint32_t bits) {
  const std::uint32_t negative = mask(bits >> (8 * sizeof(Bits) - 1));
  return static_cast<std::int32_t>(((bits & kMagnitude<Bits>)^negative) - negative);
}

// No branches, so that it is vectorised.
template <typename Bits>
Counts count(const Bits* incumbent, const Bits* candidate, std::uint32_t elements) {
  Counts counts;
  for (std::uint32_t i = 0; i < elements; ++i) {
    const std::uint32_t a = incumbent[i];
    const std::uint32_t b = candidate[i];
    counts.differing += differ(a, b);
    counts.class_mismatch += differ(class_of<Bits>(a), class_of<Bits>(b));
    counts.non_finite += 1U - finite<Bits>(b);
    const std::int32_t at_a = ordered<Bits>(a), at_b = ordered<Bits>(b);
    const std::uint32_t steps = static_cast<std::uint32_t>(at_a) - static_cast<std::uint32_t>(at_b);
    const std::uint32_t distance = at_a < at_b ? 0U - steps : steps;
    const std::uint32_t counted = distance & mask(finite<Bits>(a) & finite<Bits>(b));
    counts.max_ulp = counts.max_ulp > counted ? counts.max_ulp : counted;
  }
  return counts;
}

// Of outputs that are equal, as they should be, only this is left to count.
template <typename Bits>
Counts count_equal(const Bits* output, std::uint32_t elements) {
  Counts counts;
  for (std::uint32_t i = 0; i < elements; ++i) counts.non_finite += 1U - finite<Bits>(output[i]);
  return counts;
}

template <typename Bits>
Difference compare(std::span<const Bits> incumbent, std::span<const Bits> candidate) {
  Difference difference;
  difference.elements = incumbent.size();
  for (std::size_t first = 0; first < incumbent.size(); first += kChunk) {
    const auto elements = static_cast<std::uint32_t>(std::min(kChunk, incumbent.size() - first));
    const Bits* a = incumbent.data() + first;
    const Bits* b = candidate.data() + first;
    const bool equal = std::memcmp(a, b, elements * sizeof(Bits)) == 0;
    const Counts counts = equal ? count_equal(b, elements) : count(a, b, elements);
    difference.differing += counts.differing;
    difference.class_mismatch += counts.class_mismatch;
    difference.non_finite += counts.non_finite;
    difference.max_ulp = std::max(difference.max_ulp, counts.max_ulp);
  }
  return difference;
}

template <typename Bits>
std::span<const Bits> patterns(ConstElements all) {
  return {reinterpret_cast<const Bits*>(all.data()), all.size()};
}

}  // namespace

Difference compare_bits(ConstElements incumbent, ConstElements candidate) {
  if (incumbent.size() != candidate.size() || incumbent.type() != candidate.type()) {
    fail(Blame::kArm,
         "outputs of {} and {} elements, {} and {} bytes each, cannot be compared: give both arms "
         "one problem",
         incumbent.size(), candidate.size(), incumbent.element_bytes(), candidate.element_bytes());
  }
  return incumbent.type() == TARE_F32
             ? compare(patterns<std::uint32_t>(incumbent), patterns<std::uint32_t>(candidate))
             : compare(patterns<Bf16>(incumbent), patterns<Bf16>(candidate));
}

std::uint64_t digest(ConstElements output) {
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

void poison(Elements output, int which) {
  const std::uint32_t bits = pattern_in(output.type(), kPoison[which & 1]);
  for (std::size_t i = 0; i < output.size(); ++i) output.set_bits(i, bits);
}

std::uint64_t count_unwritten(ConstElements after_0, ConstElements after_1) {
  const std::uint32_t poison_0 = pattern_in(after_0.type(), kPoison[0]);
  const std::uint32_t poison_1 = pattern_in(after_1.type(), kPoison[1]);
  std::uint64_t unwritten = 0;
  for (std::size_t i = 0; i < std::min(after_0.size(), after_1.size()); ++i) {
    unwritten +=
        static_cast<std::uint64_t>((after_0.bits(i) == poison_0) & (after_1.bits(i) == poison_1));
  }
  return unwritten;
}

float to_float(Bf16 bits) {
  return formats::from_bf16(bits);
}

Bf16 to_bf16(float value) {
  return formats::to_bf16_bits(value);
}

}  // namespace tare::prove
