// GGUF blocks as ggml itself reads them, on random bytes and on weights that ggml and that our own
// rules quantised.
#include <ggml.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/decode.h"
#include "prove/generator.h"
#include "prove/quantise.h"

namespace tare::formats {
namespace {

struct Pair {
  std::uint32_t ours;
  ggml_type theirs;
};
constexpr Pair kPairs[] = {{TARE_GGUF_Q8_0, GGML_TYPE_Q8_0}, {TARE_GGUF_Q4_0, GGML_TYPE_Q4_0},
                           {TARE_GGUF_Q5_0, GGML_TYPE_Q5_0}, {TARE_GGUF_Q4_K, GGML_TYPE_Q4_K},
                           {TARE_GGUF_Q6_K, GGML_TYPE_Q6_K}, {TARE_F16, GGML_TYPE_F16},
                           {TARE_BF16, GGML_TYPE_BF16}};
constexpr std::int64_t kK = 1024;

std::vector<float> as_ggml_reads(ggml_type type, const void* row) {
  std::vector<float> values(kK);
  ggml_get_type_traits(type)->to_float(row, values.data(), kK);
  return values;
}

// ggml rounds once a product where we do not: 2^-24 of the larger term.
void expect_same(const Pair& pair, const std::vector<std::uint8_t>& bytes) {
  std::vector<double> ours;
  dequantise_row(format_of(pair.ours), kK, 1, bytes.data(), 0, ours);
  const std::vector<float> theirs = as_ggml_reads(pair.theirs, bytes.data());
  double largest = 0;
  for (const double w : ours) largest = std::max(largest, std::abs(w));
  for (std::int64_t i = 0; i < kK; ++i)
    ASSERT_NEAR(ours[i], theirs[i], 4 * largest * 0x1p-24)
        << ggml_type_name(pair.theirs) << " " << i;
}

class Ggml : public testing::TestWithParam<Pair> {
 protected:
  std::vector<float> bell() {
    std::vector<float> values(kK);
    prove::generate_weights(random_(), 0, 0, std::span<float>(values));
    return values;
  }
  std::uint32_t seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
  const WeightFormat& format_ = format_of(GetParam().ours);
  std::vector<std::uint8_t> bytes_ =
      std::vector<std::uint8_t>(layout_of(format_, kK, 1).total_bytes);
};

TEST_P(Ggml, SizesAgree) {
  EXPECT_EQ(static_cast<std::int64_t>(format_.block), ggml_blck_size(GetParam().theirs));
  EXPECT_EQ(format_.block_bytes, ggml_type_size(GetParam().theirs));
}

TEST_P(Ggml, ReadsWhatGgmlQuantised) {
  SCOPED_TRACE(seed_);
  if (format_.family == Family::kPlain) GTEST_SKIP() << "nothing to quantise";
  const std::vector<float> values = bell();
  ggml_quantize_chunk(GetParam().theirs, values.data(), bytes_.data(), 0, 1, kK, nullptr);
  expect_same(GetParam(), bytes_);
}

TEST_P(Ggml, ReadsAnyBytesAlike) {
  SCOPED_TRACE(seed_);
  for (std::uint8_t& byte : bytes_) byte = static_cast<std::uint8_t>(random_() & 0xBF);
  // The bit that is never set keeps every f16 in there finite: its exponent is not all ones.
  expect_same(GetParam(), bytes_);
}

// Our rules round as well as ggml's simplest do: within half a step, or where ggml searches for the
// least squared error (the K formats), within 1.2 of its error.
TEST_P(Ggml, OurRulesAreAsGoodAsGgmls) {
  SCOPED_TRACE(seed_);
  if (format_.family == Family::kPlain) GTEST_SKIP() << "nothing to quantise";
  const std::vector<float> values = bell();
  const auto error = [&] {
    std::vector<double> w;
    dequantise_row(format_, kK, 1, bytes_.data(), 0, w);
    double sum = 0;
    for (std::int64_t i = 0; i < kK; ++i) sum += (w[i] - values[i]) * (w[i] - values[i]);
    return sum;
  };
  ggml_quantize_chunk(GetParam().theirs, values.data(), bytes_.data(), 0, 1, kK, nullptr);
  const double theirs = error();
  prove::quantise_row(format_, values, {bytes_.data(), nullptr, nullptr});
  EXPECT_LE(error(), 2 * theirs) << "of rms " << std::sqrt(theirs / kK);
}

INSTANTIATE_TEST_SUITE_P(Formats, Ggml, testing::ValuesIn(kPairs), [](const auto& test) {
  return std::string(ggml_type_name(test.param.theirs));
});

}  // namespace
}  // namespace tare::formats
