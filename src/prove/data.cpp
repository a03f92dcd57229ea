#include "prove/data.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/splitmix.h"
#include "formats/weight_format.h"
#include "prove/compare.h"
#include "prove/real_weights.h"

namespace tare::prove {
namespace {

constexpr std::uint64_t kRun = 16;  // the smallest part of a block that has a scale (Q6_K)
constexpr float kRest = 0x1p-16F;   // x of what does not cancel, against the rest of x

// What is drawn: enters the key, so that weights and activations are unrelated.
enum class Purpose : std::uint64_t { kWeights = 11, kActivations, kBlocks, kPlaces, kBias };

std::uint64_t state_of(Purpose purpose, const DataKey& key, std::uint64_t line) {
  std::uint64_t state = split_mix(static_cast<std::uint64_t>(purpose));
  for (const std::uint64_t part : {key.seed, key.slot, line})
    state = split_mix(state ^ split_mix(part));
  return state;
}

std::uint64_t draw(std::uint64_t state, std::uint64_t index) {
  return split_mix(state + index * kSplitMixStep);
}

// One weight of a real model, of root mean square 1: the share of weights that exceed it is drawn
// evenly, its octave by leading zeros. Exact integers and two float operations: the same bits on
// every machine.
float real_value(std::uint64_t bits) {
  const std::uint64_t share = bits << 1U;
  const int octave = std::min(std::countl_zero(share | 1U), kMagnitudeOctaves - 1);
  const auto below = static_cast<std::uint32_t>((share << octave << 1U) >> 40U);  // 24 bits
  const std::uint32_t place = kMagnitudeSteps * ((1U << 24U) - below);
  const std::size_t entry =
      static_cast<std::size_t>(octave * kMagnitudeSteps) + std::min(place >> 24U, 7U);
  const float part = static_cast<float>(place & ((1U << 24U) - 1U)) * 0x1p-24F;
  const float step = kMagnitudes[entry + 1] - kMagnitudes[entry];
  const float magnitude = kMagnitudes[entry] + part * step;
  return (bits >> 63U) != 0 ? -magnitude : magnitude;
}

// Where the elements of a line that cancels lie: element i of the copies is `source[i - first]`.
struct Pairing {
  std::uint64_t copies = 0;  // the first element that is a copy
  std::vector<std::uint64_t> source;
  std::uint64_t end() const { return copies + source.size(); }
};

std::uint64_t block_of(const DataKey& key) {
  const formats::WeightFormat& format = formats::format_of(key.type);
  const std::uint64_t block = std::max(format.block, format.group);
  return block > 1 ? block : std::clamp<std::uint64_t>(key.k / 3, 1, kRun);
}

Pairing pairing_of(const DataKey& key) {
  const std::uint64_t block = block_of(key);
  const std::uint64_t blocks = key.k / block;
  const std::uint64_t pairs = blocks < 3 ? 0 : (blocks - 1) / 2;
  std::vector<std::uint64_t> order(pairs);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const std::uint64_t state = state_of(Purpose::kBlocks, {.k = key.k, .seed = key.seed}, block);
  for (std::uint64_t i = pairs; i > 1; --i) std::swap(order[i - 1], order[draw(state, i) % i]);
  Pairing pairing{pairs * block, {}};
  pairing.source.reserve(pairs * block);
  for (const std::uint64_t from : order)
    for (std::uint64_t i = 0; i < block; ++i) {
      const std::uint64_t run = i / kRun * kRun;
      const std::uint64_t length = std::min(kRun, block - run);
      pairing.source.push_back(from * block + run + (i - run + 1 + from) % length);
    }
  return pairing;
}

void make_copies(const Pairing& pairing, std::span<float> line) {
  for (std::size_t i = 0; i < pairing.source.size(); ++i)
    line[pairing.copies + i] = line[pairing.source[i]];
}

void negate_copies(const Pairing& pairing, Elements line) {
  for (std::size_t i = 0; i < pairing.source.size(); ++i)
    line.set(pairing.copies + i, -line.value(pairing.source[i]));
}

float integer(std::uint64_t bits) {
  return static_cast<float>(static_cast<int>(bits % 17) - 8);
}

// Codes of GGUF blocks have f16 scales; a weight of 2^-24 is as far as they reach.
float least_weight(std::uint32_t type) {
  const formats::WeightFormat& format = formats::format_of(type);
  const bool half =
      type == TARE_F16 || format.scales == TARE_F16 || format.family == formats::Family::kBlocks;
  return half ? 0x1p-10F : 0x1p-120F;
}

// About 1, and such that a block's scale is a power of two: then products of block and block are
// exact in f32. Q8_0: 127 codes a unit; Q4_K: 15 codes, whose scale is 63 of the block's.
float equal_weight(std::uint32_t type) {
  if (type == TARE_GGUF_Q8_0) return 127.0F / 128;
  if (type == TARE_GGUF_Q4_K) return 15.0F * 63 / 1024;
  return 1;
}

void scale(std::span<float> line, float factor) {
  for (float& value : line) value *= factor;
}
void scale(Elements line, float factor) {
  for (std::size_t i = 0; i < line.size(); ++i) line.set(i, line.value(i) * factor);
}

void fill(Elements line, float value) {
  for (std::size_t i = 0; i < line.size(); ++i) line.set(i, value);
}

}  // namespace

std::string_view name_of(Data data) {
  switch (data) {
    case Data::kUsual:
      return "normal";
    case Data::kReal:
      return "real";
    case Data::kOneHot:
      return "one-hot";
    case Data::kCancelling:
      return "cancelling";
    case Data::kIntegers:
      return "integers";
    case Data::kSubnormal:
      return "subnormal";
    case Data::kModel:
      return "model";
    case Data::kOnes:
      return "ones";
  }
  return "";
}

void draw_weights(const DataKey& key, std::uint64_t output, std::span<float> into) {
  const std::uint64_t state = state_of(Purpose::kWeights, key, output);
  switch (key.data) {
    case Data::kReal:
      for (std::size_t i = 0; i < into.size(); ++i) into[i] = real_value(draw(state, i)) * 0x1p-6F;
      return;
    case Data::kIntegers:
      for (std::size_t i = 0; i < into.size(); ++i) into[i] = integer(draw(state, i));
      return;
    case Data::kOnes:
      std::ranges::fill(into, equal_weight(key.type));
      return;
    default:
      generate_weights(key.seed, key.slot, output * key.k, into);
  }
  if (key.data == Data::kCancelling) make_copies(pairing_of(key), into);
  if (key.data == Data::kSubnormal && output % 2 == 0) scale(into, least_weight(key.type));
}

// Weights are near 0.02; y is near 1, near 2^-19 where it cancels, and about the least normal.
float draw_bias(const DataKey& key, std::uint64_t output) {
  const std::uint64_t state = state_of(Purpose::kBias, key, output);
  float value = 0;
  switch (key.data) {
    case Data::kReal:
      return real_value(draw(state, 0));
    case Data::kIntegers:
      return integer(draw(state, 0));
    case Data::kOnes:
      return 0;
    default:
      generate_weights(state, key.slot, output, {&value, 1});
  }
  if (key.data == Data::kCancelling) return value * 0x1p-13F;
  if (key.data == Data::kSubnormal) return value * (least_weight(key.type) / 2);
  return key.data == Data::kOneHot ? value : value * 64;
}

void draw_row(const DataKey& key, std::uint64_t row, Elements into) {
  const std::uint64_t state = state_of(Purpose::kActivations, key, row);
  switch (key.data) {
    case Data::kReal:
    case Data::kModel:
      for (std::size_t i = 0; i < into.size(); ++i) into.set(i, real_value(draw(state, i)));
      return;
    case Data::kIntegers:
      for (std::size_t i = 0; i < into.size(); ++i) into.set(i, integer(draw(state, i)));
      return;
    case Data::kOneHot: {
      fill(into, 0);
      const std::uint64_t place = row == 0 ? 0
                                  : row == 1
                                      ? key.k - 1
                                      : draw(state_of(Purpose::kPlaces, key, row), 0) % key.k;
      into.set(place, row % 2 == 0 ? 1.0F : -0.5F);
      return;
    }
    case Data::kOnes:
      fill(into, 1);
      return;
    default:
      fill_activations(key.seed, row, into);
  }
  if (key.data == Data::kCancelling) {
    const Pairing pairing = pairing_of(key);
    negate_copies(pairing, into);
    if (!pairing.source.empty())
      scale(into.subspan(pairing.end(), into.size() - pairing.end()), kRest);
  }
  if (key.data == Data::kSubnormal && row % 2 == 1) scale(into, 0x1p-125F);
}

}  // namespace tare::prove
