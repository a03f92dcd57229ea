// Generated weights of every format: a pure function of key, output and k; near the values they
// are rounded from; and what the oracle sees is what an arm gets.
#include "prove/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formats/decode.h"
#include "prove/generator.h"
#include "prove/quantise.h"
#include "tests/formats/every_format.h"

namespace tare::prove {
namespace {

constexpr std::uint64_t kK = 512, kN = 6;

class Weights : public testing::TestWithParam<formats::WeightFormat> {
 protected:
  static std::vector<std::uint8_t> slot(std::uint64_t seed, std::uint64_t which, std::uint64_t n) {
    const WeightKey key{GetParam().type, kK, n, seed, which};
    std::vector<std::uint8_t> bytes(weight_buffer_bytes(key));
    generate_slot(key, bytes.data());
    return bytes;
  }
};

TEST_P(Weights, TheOracleSeesWhatAnArmGets) {
  const WeightKey key{GetParam().type, kK, kN, 5, 3};
  const auto bytes = slot(5, 3, kN);
  std::vector<double> from_slot, alone;
  for (std::uint64_t row = 0; row < kN; ++row) {
    formats::dequantise_row(GetParam(), kK, kN, bytes.data(), row, from_slot);
    generate_row(key, row, alone);
    EXPECT_EQ(from_slot, alone) << row;
  }
}

// Of every type, in every class of data; the weights in front of it are those without.
TEST_P(Weights, TheOracleAddsTheBiasThatAnArmGets) {
  for (const std::uint32_t type : {TARE_BF16, TARE_F16, TARE_F32})
    for (const Data data : kProvenData) {
      const WeightKey key{GetParam().type, kK, kN, 5, 3, data, type};
      std::vector<std::uint8_t> bytes(weight_buffer_bytes(key));
      generate_slot(key, bytes.data());
      const std::vector<float> bias = formats::bias_of(GetParam(), kK, kN, type, bytes.data());
      ASSERT_EQ(bias.size(), kN);
      for (std::uint64_t row = 0; row < kN; ++row) EXPECT_EQ(bias[row], generate_bias(key, row));
      EXPECT_NE(bias[0], bias[1]);
      WeightKey without = key;
      without.bias = 0;
      std::vector<std::uint8_t> alone(weight_buffer_bytes(without));
      generate_slot(without, alone.data());
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), bytes.begin())) << name_of(data);
      EXPECT_EQ(generate_bias(without, 0), 0);
    }
}

TEST_P(Weights, OutputsDoNotDependOnTheirNumber) {
  std::vector<double> few, many;
  formats::dequantise_row(GetParam(), kK, 2, slot(1, 0, 2).data(), 1, few);
  formats::dequantise_row(GetParam(), kK, kN, slot(1, 0, kN).data(), 1, many);
  EXPECT_EQ(few, many);
}

TEST_P(Weights, SeedsAndSlotsDiffer) {
  EXPECT_NE(slot(1, 0, kN), slot(2, 0, kN));
  EXPECT_NE(slot(1, 0, kN), slot(1, 1, kN));
}

// A step of b bits over a group of bell-shaped values is some 2.5 to 8 deviations by 2^b; its
// uniform rounding error is the step by sqrt(12), and tails four times as far widen a few steps.
TEST_P(Weights, AreNearTheValuesTheyRound) {
  std::vector<float> values(kK * kN);
  generate_weights(7, 0, 0, std::span<float>(values));
  double squares = 0, errors = 0;
  std::vector<double> w;
  for (std::uint64_t row = 0; row < kN; ++row) {
    generate_row({GetParam().type, kK, kN, 7, 0}, row, w);
    for (std::uint64_t i = 0; i < kK; ++i) {
      const double value = values[row * kK + i];
      squares += value * value;
      errors += (w[i] - value) * (w[i] - value);
    }
  }
  const double bits =
      8. * static_cast<double>(GetParam().block_bytes) / static_cast<double>(GetParam().block);
  EXPECT_LT(std::sqrt(errors / squares),
            12 * std::exp2(-std::floor(std::min(bits, 9.))) / std::sqrt(12));
}

// Usual values, heavy tails, small integers, the least numbers, and groups without a range.
TEST_P(Weights, EveryQuantiserPathHasTheSameBits) {
  const formats::Layout layout = formats::layout_of(GetParam(), kK, 1);
  std::vector<float> values(kK);
  for (const Data data :
       {Data::kUsual, Data::kReal, Data::kIntegers, Data::kSubnormal, Data::kOnes}) {
    for (std::uint64_t output = 0; output < 8; ++output) {
      draw_weights({data, GetParam().type, kK, 11, 0}, output, values);
      std::vector<std::uint8_t> first;
      for (const QuantiserPath& path : quantiser_paths()) {
        std::vector<std::uint8_t> bytes(layout.total_bytes);
        path.quantise(GetParam(), values,
                      {bytes.data(), bytes.data() + layout.scales, bytes.data() + layout.biases});
        if (first.empty()) first = bytes;
        EXPECT_EQ(bytes, first) << path.name << " " << name_of(data) << " " << output;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Weights, formats::every_format(), formats::name_of_format);

}  // namespace
}  // namespace tare::prove
