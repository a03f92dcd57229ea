#include "prove/generator.h"

#include <algorithm>
#include <bit>

#include "base/splitmix.h"
#include "prove/vector_paths.h"

namespace tare::prove {
namespace {

// What the data is for: enters the key, so that weights and activations of one seed are unrelated.
enum class Purpose : std::uint64_t { kWeights = 1, kActivations = 2 };

// Powers of two, so that scaling is exact. Before it the deviation is 152 * 256.
constexpr float kWeightScale = 0x1p-21F;      // 0.0186
constexpr float kActivationScale = 0x1p-15F;  // 1.19

constexpr std::uint64_t kSegment = std::uint64_t{1} << 32U;  // elements one key serves
constexpr std::uint64_t kMostAtOnce = kSegment / 2;          // so that a loop's counter has 32 bits

struct Key {
  std::uint32_t before;
  std::uint32_t between;
};

constexpr Key make_key(Purpose purpose, std::uint64_t seed, std::uint64_t slot,
                       std::uint64_t segment) {
  std::uint64_t key = split_mix(static_cast<std::uint64_t>(purpose));
  for (const std::uint64_t part : {seed, slot, segment}) key = split_mix(key ^ split_mix(part));
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)};
}

// One 32-bit lane: a bijective hash of the counter. Shifts and multipliers are the two-round hash
// of least bias in Wellons' hash-prospector; two keys, because with one alone the slots would be
// shifted copies of each other.
[[gnu::always_inline]] inline std::uint32_t hash(Key key, std::uint32_t counter) {
  std::uint32_t x = counter + key.before;
  x = (x ^ (x >> 16U)) * 0x21F0AAADU;
  x = ((x ^ (x >> 15U)) + key.between) * 0xD35A2D97U;
  return x ^ (x >> 15U);
}

// Four bytes summed: a bell of mean 0, standard deviation 148. One in 256 (the bytes' XOR is 0:
// given that, their sum still has the same mean and variance) is four times as large, for the
// tails. Eight more bits below fill the gaps between the sums: without them every value is a small
// integer times one scale, the f32 sums of a whole dot product are exact, and implementations that
// add in other orders come out equal, bit for bit (seen: ggml and oneDNN, 0 of 3.1 million elements
// differed). 20 bits with the tails and a power of two for a scale: the float is exact.
[[gnu::always_inline]] inline float bell(std::uint32_t bits, float scale) {
  const std::uint32_t even = bits & 0x00FF00FFU;
  const std::uint32_t odd = (bits >> 8U) & 0x00FF00FFU;
  const std::uint32_t pairs = even + odd;
  const std::uint32_t sum = (pairs + (pairs >> 16U)) & 0xFFFFU;
  const std::uint32_t folded = even ^ odd;
  const bool tail = ((folded ^ (folded >> 16U)) & 0xFFU) == 0;
  // Times four is two steps of the exponent: in integers, because g++ does not vectorise a choice
  // between floats.
  const std::uint32_t scale_bits = std::bit_cast<std::uint32_t>(scale) + (tail ? 1U << 24U : 0U);
  const std::uint32_t below = (bits * 0x9E3779B1U) >> 24U;
  return static_cast<float>(static_cast<std::int32_t>((sum << 8U) + below) - (510 * 256 + 128)) *
         std::bit_cast<float>(scale_bits);
}

// The only rounding. No value is NaN or Inf, so no case of its own for them.
[[gnu::always_inline]] inline Bf16 round_finite(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  return static_cast<Bf16>(bits >> 16U);
}

[[gnu::always_inline]] inline void put(float value, Bf16& into) {
  into = round_finite(value);
}
[[gnu::always_inline]] inline void put(float value, float& into) {
  into = value;
}

template <typename Value>
[[gnu::always_inline]] inline void fill(Key key, std::uint32_t first, std::uint32_t count,
                                        float scale, Value* into) {
  for (std::uint32_t i = 0; i < count; ++i) put(bell(hash(key, first + i), scale), into[i]);
}

template <typename Value>
using Fill = void (*)(Key, std::uint32_t first, std::uint32_t count, float scale, Value* into);

template <typename Value>
void fill_portable(Key key, std::uint32_t first, std::uint32_t count, float scale, Value* into) {
  fill(key, first, count, scale, into);
}

#ifdef TARE_PROVE_X86
template <typename Value>
[[TARE_PROVE_AVX2]] void fill_avx2(Key key, std::uint32_t first, std::uint32_t count, float scale,
                                   Value* into) {
  fill(key, first, count, scale, into);
}
template <typename Value>
[[TARE_PROVE_AVX512]] void fill_avx512(Key key, std::uint32_t first, std::uint32_t count,
                                       float scale, Value* into) {
  fill(key, first, count, scale, into);
}
#endif

template <typename Value>
Fill<Value> fastest() {
#ifdef TARE_PROVE_X86
  if (has_avx512()) return fill_avx512<Value>;
  if (has_avx2()) return fill_avx2<Value>;
#endif
  return fill_portable<Value>;
}

struct Stream {
  Purpose purpose;
  std::uint64_t seed;
  std::uint64_t slot;
  float scale;
};

// Cuts the range where the upper half of the counter changes: each segment has a key of its own.
template <typename Value>
void generate(Fill<Value> path, const Stream& stream, std::uint64_t first, std::span<Value> into) {
  while (!into.empty()) {
    const std::uint64_t left = std::min(kSegment - first % kSegment, kMostAtOnce);
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, into.size()));
    const Key key = make_key(stream.purpose, stream.seed, stream.slot, first / kSegment);
    path(key, static_cast<std::uint32_t>(first), count, stream.scale, into.data());
    first += count;
    into = into.subspan(count);
  }
}

template <Fill<Bf16> kPath>
void weights_on(std::uint64_t seed, std::uint64_t slot, std::uint64_t first, std::span<Bf16> into) {
  generate<Bf16>(kPath, {Purpose::kWeights, seed, slot, kWeightScale}, first, into);
}

}  // namespace

void generate_weights(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                      std::span<Bf16> into) {
  generate<Bf16>(fastest<Bf16>(), {Purpose::kWeights, seed, slot, kWeightScale}, first, into);
}

void generate_weights(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                      std::span<float> into) {
  generate<float>(fastest<float>(), {Purpose::kWeights, seed, slot, kWeightScale}, first, into);
}

void generate_activations(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                          std::span<Bf16> into) {
  generate<Bf16>(fastest<Bf16>(), {Purpose::kActivations, seed, slot, kActivationScale}, first,
                 into);
}

void generate_activations(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                          std::span<float> into) {
  generate<float>(fastest<float>(), {Purpose::kActivations, seed, slot, kActivationScale}, first,
                  into);
}

std::vector<GeneratorPath> generator_paths() {
  std::vector<GeneratorPath> paths = {{"portable", weights_on<fill_portable<Bf16>>}};
#ifdef TARE_PROVE_X86
  if (has_avx2()) paths.push_back({"AVX2", weights_on<fill_avx2<Bf16>>});
  if (has_avx512()) paths.push_back({"AVX-512", weights_on<fill_avx512<Bf16>>});
#endif
  return paths;
}

}  // namespace tare::prove
