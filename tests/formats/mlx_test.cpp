// MLX's affine formats as MLX itself quantises and reads them.
#include <gtest/gtest.h>
#include <mlx/array.h>
#include <mlx/device.h>
#include <mlx/ops.h>

#include <cstring>
#include <random>
#include <tuple>

#include "formats/decode.h"
#include "formats/half.h"
#include "prove/generator.h"
#include "prove/quantise.h"

namespace tare::formats {
namespace {

namespace mx = mlx::core;

constexpr int kK = 512, kN = 5, kGroup = 64;

// Bits of a code, and whether scales are f16.
class Mlx : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  void SetUp() override {
    mx::set_default_device(mx::Device::cpu);
    prove::generate_weights(seed_, 0, 0, std::span<float>(values_));
  }
  const WeightFormat& format() const {
    if (half()) return format_of(bits() == 4 ? TARE_MLX_INT4_G64_F16 : TARE_MLX_INT8_G64_F16);
    return format_of(bits() == 4 ? TARE_MLX_INT4_G64 : TARE_MLX_INT8_G64);
  }
  static int bits() { return std::get<0>(GetParam()); }
  static bool half() { return std::get<1>(GetParam()); }
  static mx::Dtype type() { return half() ? mx::float16 : mx::bfloat16; }
  Layout layout() const { return layout_of(format(), kK, kN); }

  // The three arrays of mx::quantize in the layout of tare/arm.h.
  std::vector<std::uint8_t> quantised_by_mlx() const {
    const mx::array w = mx::astype(mx::array(values_.data(), {kN, kK}, mx::float32), type());
    const std::vector<mx::array> parts = mx::quantize(w, kGroup, bits());
    std::vector<std::uint8_t> bytes(layout().total_bytes);
    const std::size_t at[] = {0, layout().scales, layout().biases};
    for (std::size_t i = 0; i < 3; ++i) {
      mx::array part = parts[i];
      part.eval();
      std::memcpy(bytes.data() + at[i], part.data<std::uint8_t>(), part.nbytes());
    }
    return bytes;
  }

  std::uint32_t seed_ = std::random_device{}();
  std::vector<float> values_ = std::vector<float>(kN * kK);
};

TEST_P(Mlx, ReadsWhatMlxQuantised) {
  SCOPED_TRACE(seed_);
  const std::vector<std::uint8_t> bytes = quantised_by_mlx();
  const mx::array codes(reinterpret_cast<const std::uint32_t*>(bytes.data()),
                        {kN, kK * bits() / 32}, mx::uint32);
  const auto plane = [&](std::size_t at) {
    const mx::Shape shape{kN, kK / kGroup};
    const std::uint8_t* from = bytes.data() + at;
    return mx::astype(
        half() ? mx::array(reinterpret_cast<const mx::float16_t*>(from), shape, mx::float16)
               : mx::array(reinterpret_cast<const mx::bfloat16_t*>(from), shape, mx::bfloat16),
        mx::float32);
  };
  // In f32, so that MLX rounds nothing to less on the way.
  mx::array theirs =
      mx::dequantize(codes, plane(layout().scales), plane(layout().biases), kGroup, bits());
  theirs.eval();
  std::vector<double> ours;
  for (int row = 0; row < kN; ++row) {
    dequantise_row(format(), kK, kN, bytes.data(), row, ours);
    for (int i = 0; i < kK; ++i)
      ASSERT_NEAR(ours[i], theirs.data<float>()[row * kK + i], 1e-7) << row << " " << i;
  }
}

// Scales and biases to the bit. Codes but for one step: MLX subtracts the bias in the type of the
// weights: the 8 bits of bf16 are half a step of 8-bit codes.
TEST_P(Mlx, OurRulesAreMlxs) {
  SCOPED_TRACE(seed_);
  const std::vector<std::uint8_t> theirs = quantised_by_mlx();
  std::vector<std::uint8_t> ours(theirs.size());
  for (int row = 0; row < kN; ++row) {
    std::vector<float> rounded(values_.begin() + row * kK, values_.begin() + (row + 1) * kK);
    for (float& w : rounded) w = half() ? from_f16(to_f16_bits(w)) : from_bf16(to_bf16_bits(w));
    const std::uint64_t plane = row * layout().groups * 2;
    prove::quantise_row(
        format(), rounded,
        {ours.data() + row * layout().code_row, ours.data() + layout().scales + plane,
         ours.data() + layout().biases + plane});
  }
  for (std::size_t i = layout().scales; i < theirs.size(); ++i) ASSERT_EQ(ours[i], theirs[i]) << i;
  QuantisedRow our_row, their_row;
  for (int row = 0; row < kN; ++row) {
    decode_row(format(), kK, kN, ours.data(), row, our_row);
    decode_row(format(), kK, kN, theirs.data(), row, their_row);
    for (int i = 0; i < kK; ++i)
      ASSERT_LE(std::abs(our_row.code[i] - their_row.code[i]), 1) << row << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, Mlx, testing::Combine(testing::Values(4, 8), testing::Bool()));

}  // namespace
}  // namespace tare::formats
