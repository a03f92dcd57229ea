// The grouped kernel on every path this processor can run: against fp64 on the dequantised weights,
// all paths the same bits, a row's bits whatever its company, and nothing written outside y.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>

#include "base/error.h"
#include "formats/decode.h"
#include "kernels/cpu/paths.h"
#include "kernels/grouped_packing.h"
#include "kernels/grouped_projection.h"
#include "prove/weights.h"
#include "tests/kernels/company.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/heap.h"
#include "tests/kernels/reference.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tare::kernels {
namespace {

using formats::WeightFormat;
using prove::WeightKey;

// A format, with activations as they are or rounded.
struct Case {
  WeightFormat format;
  std::uint32_t activations;
};

std::vector<Case> known_cases() {
  std::vector<Case> known;
  for (const WeightFormat& format : formats::weight_formats())
    for (const std::uint32_t activations :
         {std::uint32_t{TARE_BF16}, std::uint32_t{TARE_BF16_AS_INT8}})
      if (is_grouped(format.type, activations)) known.push_back({format, activations});
  return known;
}

class EveryFormat : public testing::TestWithParam<Case> {
 protected:
  struct Shape {
    std::uint64_t k, n;
  };
  // k in blocks of the format where it has any: primes, tails of a tile's block, several blocks.
  std::vector<Shape> shapes() const {
    const std::uint64_t block = GetParam().format.block;
    if (block == 1) return {{1, 1}, {2, 3}, {7, 65}, {129, 64}, {257, 130}, {1031, 67}};
    const std::uint64_t many = block == 256 ? 4 : 9;  // more than a block of the tiles
    return {{block, 1},
            {block, 65},
            {3 * block, 64},
            {many * block, 67},
            {2 * many * block - block, 130}};
  }

  static bool rounds() { return GetParam().activations == TARE_BF16_AS_INT8; }
  static std::span<const GroupedPath* const> paths() {
    return rounds() ? rounded_paths() : grouped_paths();
  }

  std::vector<std::byte> weights(const Shape& shape, std::uint32_t bias = 0,
                                 prove::Data data = prove::Data::kUsual) const {
    const WeightKey key{GetParam().format.type, shape.k, shape.n, seed_, 0, data, bias};
    std::vector<std::byte> bytes(prove::weight_buffer_bytes(key));
    prove::generate_slot(key, bytes.data());
    return bytes;
  }

  GroupedProjection prepared(const GroupedPath& path, const Shape& shape, std::uint32_t rows,
                             const std::vector<std::byte>& bytes, ThreadPool& pool,
                             std::uint32_t bias = 0) const {
    GroupedProjection projection(
        GetParam().format.type,
        grouped_shape(GetParam().format.type, GetParam().activations, shape.k, shape.n, bias), rows,
        1, path, pool, {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, bytes.data());
    return projection;
  }

  static std::vector<Bf16> project(GroupedProjection& projection, const std::vector<Bf16>& x,
                                   std::uint64_t rows, std::uint64_t n) {
    return run_guarded(projection, x.data(), rows * n);
  }

  // y of the first path; all the others have its bits.
  void project_on_every_path(const Shape& shape, std::uint32_t rows,
                             const std::vector<std::byte>& bytes, const std::vector<Bf16>& x,
                             std::vector<Bf16>& first, std::uint32_t bias = 0) {
    for (const GroupedPath* path : paths()) {
      auto projection = prepared(*path, shape, rows, bytes, pool_, bias);
      const auto y = project(projection, x, rows, shape.n);
      if (first.empty()) first = y;
      ASSERT_EQ(y, first) << path->name;
    }
  }

  std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  ThreadPool pool_{2};
};

double value_of(Bf16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);  // subnormals as they are
}

// One product, and by how much a kernel may miss it: one rounding to bf16; of f32 sums at most one
// of 2^-24, or half a step of subnormals, for each of k products, each scale and each bias, of what
// those sums can reach (codes count from the middle of their range); and where x is rounded half of
// what 1 of 127 is of the largest of 32 values.
struct Expected {
  double exact = 0, sums = 0, rounding = 0;
  double allowed() const {
    return std::ldexp(std::abs(exact) + rounding + sums, -8) + sums + 0x1p-134 + rounding;
  }
};
Expected product(const Bf16* x, const std::vector<double>& w, const formats::QuantisedRow& row,
                 bool rounds) {
  Expected made;
  double magnitude = 0;
  for (std::uint64_t i = 0; i < w.size(); ++i) {
    made.exact += value_of(x[i]) * w[i];
    const double bias = row.bias.empty() ? 0 : row.bias[i / row.group];
    magnitude +=
        std::abs(value_of(x[i])) * (256 * std::abs(row.scale[i / row.group]) + std::abs(bias));
    double largest = 0;
    for (std::uint64_t e = i / 32 * 32; e < std::min<std::uint64_t>(i / 32 * 32 + 32, w.size());
         ++e)
      largest = std::max(largest, std::abs(value_of(x[e])));
    if (rounds) made.rounding += largest / 127 * (0.5 + 0x1p-16) * std::abs(w[i]);
  }
  made.sums = (2 * static_cast<double>(w.size()) + 8) * (std::ldexp(magnitude, -24) + 0x1p-149);
  return made;
}

TEST_P(EveryFormat, IsNearFp64OnEveryPathAndAllPathsHaveTheSameBits) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  for (const Shape& shape : shapes()) {
    for (const std::uint32_t rows : {1u, 2u, 5u, 7u, 13u, 32u}) {
      SCOPED_TRACE(testing::Message() << shape.k << "x" << shape.n << " rows " << rows);
      const auto bytes = weights(shape);
      const auto x = reference::draw(random_, rows * shape.k, reference::Values::kUsual);
      std::vector<Bf16> first;
      ASSERT_NO_FATAL_FAILURE(project_on_every_path(shape, rows, bytes, x, first));
      std::vector<double> w;
      formats::QuantisedRow row;
      for (std::uint64_t j = 0; j < shape.n; ++j) {
        formats::dequantise_row(GetParam().format, shape.k, shape.n, bytes.data(), j, w);
        formats::decode_row(GetParam().format, shape.k, shape.n, bytes.data(), j, row);
        for (std::uint64_t r = 0; r < rows; ++r) {
          const Expected expected = product(x.data() + r * shape.k, w, row, rounds());
          ASSERT_NEAR(value_of(first[r * shape.n + j]), expected.exact, expected.allowed())
              << "row " << r << " output " << j;
        }
      }
    }
  }
}

// Codes and x that are small integers, powers of two for scales: every sum is exact.
TEST_P(EveryFormat, IsExactWhereNothingRounds) {
  if (GetParam().format.block == 256) GTEST_SKIP() << "its scales are products";
  const std::uint64_t k = GetParam().format.block == 1 ? 77 : 2 * GetParam().format.block;
  constexpr std::uint64_t kN = 70;
  const Shape shape{k, kN};
  auto bytes = weights(shape);
  const auto layout = formats::layout_of(GetParam().format, k, kN);
  const auto put = [&](std::size_t at, std::uint16_t word) { std::memcpy(&bytes[at], &word, 2); };
  if (GetParam().format.family == formats::Family::kPlanes) {
    for (std::uint64_t g = 0; g < kN * layout.groups; ++g) {
      put(layout.scales + 2 * g, g % 2 == 0 ? 0x3F80 : 0xBF00);  // 1, -0.5
      if (GetParam().format.has_bias && !GetParam().format.has_zeros)
        put(layout.biases + 2 * g, 0x4000);  // 2
    }
  } else {
    for (std::size_t at = 0; at < bytes.size(); at += GetParam().format.block_bytes)
      put(at, at / GetParam().format.block_bytes % 2 == 0 ? 0x3C00 : 0xB800);  // 1, -0.5
  }
  std::vector<Bf16> x(k);
  for (auto& one : x) one = narrow(static_cast<float>(static_cast<int>(random_() % 7) - 3));
  // A step of 1: the largest magnitude of a block is 127.
  if (rounds())
    for (std::uint64_t i = 0; i < k; i += 32) x[i] = narrow(i % 64 == 0 ? 127.0F : -127.0F);
  std::vector<double> w;
  std::vector<float> sums, rounded;  // what rounding leaves, taken off by a bias
  for (std::uint64_t j = 0; j < kN; ++j) {
    formats::dequantise_row(GetParam().format, k, kN, bytes.data(), j, w);
    double exact = 0;
    for (std::uint64_t i = 0; i < k; ++i) exact += widen(x[i]) * w[i];
    sums.push_back(static_cast<float>(exact));
    rounded.push_back(-widen(narrow(sums[j])));
  }
  auto biased = bytes;
  biased.resize(formats::layout_of(GetParam().format, k, kN, TARE_F32).output_bias);
  const auto* bias = reinterpret_cast<const std::byte*>(rounded.data());
  biased.insert(biased.end(), bias, bias + kN * sizeof(float));
  for (const GroupedPath* path : paths()) {
    auto plain = prepared(*path, shape, 1, bytes, pool_);
    auto with_bias = prepared(*path, shape, 1, biased, pool_, TARE_F32);
    const auto y = project(plain, x, 1, kN), rest = project(with_bias, x, 1, kN);
    for (std::uint64_t j = 0; j < kN; ++j) {
      SCOPED_TRACE(testing::Message() << path->name << " " << j << " seed " << seed_);
      ASSERT_EQ(y[j], narrow(sums[j]));
      ASSERT_EQ(rest[j], narrow(sums[j] + rounded[j]));
    }
  }
}

// Of every type, one rounding of all: of sums like the bias, that cancel but for it, and about the
// least normal number.
TEST_P(EveryFormat, AddsABiasNearFp64WithTheSameBitsOnEveryPath) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  const WeightFormat& format = GetParam().format;
  const Shape shape = shapes()[3];
  constexpr std::uint32_t kRows = 7;
  for (const std::uint32_t type : {TARE_BF16, TARE_F16, TARE_F32})
    for (const auto data :
         {prove::Data::kUsual, prove::Data::kCancelling, prove::Data::kSubnormal}) {
      SCOPED_TRACE(testing::Message() << type << " " << prove::name_of(data));
      const auto bytes = weights(shape, type, data);
      const auto bias = formats::bias_of(format, shape.k, shape.n, type, bytes.data());
      std::vector<Bf16> x(kRows * shape.k), first;
      for (std::uint64_t row = 0; row < kRows; ++row)
        prove::draw_row({data, format.type, shape.k, seed_, 0}, row,
                        {TARE_BF16, x.data() + row * shape.k, shape.k});
      ASSERT_NO_FATAL_FAILURE(project_on_every_path(shape, kRows, bytes, x, first, type));
      std::vector<double> w;
      formats::QuantisedRow row;
      for (std::uint64_t j = 0; j < shape.n; ++j) {
        formats::dequantise_row(format, shape.k, shape.n, bytes.data(), j, w);
        formats::decode_row(format, shape.k, shape.n, bytes.data(), j, row);
        for (std::uint64_t r = 0; r < kRows; ++r) {
          Expected expected = product(x.data() + r * shape.k, w, row, rounds());
          expected.exact += bias[j];
          ASSERT_NEAR(value_of(first[r * shape.n + j]), expected.exact, expected.allowed())
              << "row " << r << " output " << j;
        }
      }
    }
}

// As heavy-tailed as a real model's weights, and a projection of one (k of Qwen2.5-1.5B, its k and
// v's n): many blocks, every height of a tile.
TEST_P(EveryFormat, HasTheSameBitsOnEveryPathAtAModelsShape) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  constexpr Shape kShape{1536, 256};
  const WeightKey key{GetParam().format.type, kShape.k, kShape.n, seed_, 0, prove::Data::kReal};
  std::vector<std::byte> bytes(prove::weight_buffer_bytes(key));
  prove::generate_slot(key, bytes.data());
  for (std::uint32_t rows = 1; rows <= 12; ++rows) {
    const auto x = reference::draw(random_, rows * kShape.k, reference::Values::kUsual);
    std::vector<Bf16> first;
    for (const GroupedPath* path : paths()) {
      auto projection = prepared(*path, kShape, rows, bytes, pool_);
      const auto y = project(projection, x, rows, kShape.n);
      if (first.empty()) first = y;
      std::size_t differing = 0;
      for (std::size_t i = 0; i < y.size(); ++i) differing += y[i] != first[i] ? 1 : 0;
      EXPECT_EQ(differing, 0) << "of " << y.size() << ", " << path->name << ", rows " << rows;
    }
  }
}

TEST_P(EveryFormat, HasTheSameBitsForAnyBitsOfX) {
  SCOPED_TRACE(seed_);
  const Shape shape = shapes()[3];
  for (const auto values : {reference::Values::kAnyFinite, reference::Values::kAnyBits}) {
    for (const std::uint32_t rows : {1u, 3u, 11u}) {
      const auto bytes = weights(shape);
      const auto x = reference::draw(random_, rows * shape.k, values);
      std::vector<Bf16> first;
      ASSERT_NO_FATAL_FAILURE(project_on_every_path(shape, rows, bytes, x, first));
    }
  }
}

// Every other output's weights and one row of x about the least normal number, one row with nothing
// but a subnormal: what is left of them is rounded as all else is, to steps of bf16's subnormals.
TEST_P(EveryFormat, KeepsWhatIsSmall) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  const WeightFormat& format = GetParam().format;
  const Shape shape = shapes()[3];
  const WeightKey key{format.type, shape.k, shape.n, seed_, 0, prove::Data::kSubnormal};
  std::vector<std::byte> bytes(prove::weight_buffer_bytes(key));
  prove::generate_slot(key, bytes.data());
  constexpr std::uint32_t kRows = 3;
  auto x = reference::draw(random_, kRows * shape.k, reference::Values::kUsual);
  for (std::uint64_t i = 0; i < shape.k; ++i) {
    const auto small = static_cast<float>(std::ldexp(value_of(x[shape.k + i]), -125));
    x[shape.k + i] = narrow_unflushed(small);
    x[2 * shape.k + i] = i == shape.k / 2 ? Bf16{0x000B} : Bf16{0};
  }
  std::vector<Bf16> first;
  ASSERT_NO_FATAL_FAILURE(project_on_every_path(shape, kRows, bytes, x, first));
  std::vector<double> w;
  formats::QuantisedRow row;
  for (std::uint64_t j = 0; j < shape.n; ++j) {
    formats::dequantise_row(format, shape.k, shape.n, bytes.data(), j, w);
    formats::decode_row(format, shape.k, shape.n, bytes.data(), j, row);
    for (std::uint64_t r = 0; r < kRows; ++r) {
      const Expected expected = product(x.data() + r * shape.k, w, row, rounds());
      ASSERT_NEAR(value_of(first[r * shape.n + j]), expected.exact, expected.allowed())
          << "row " << r << " output " << j;
    }
  }
}

TEST_P(EveryFormat, KeepsARowsBitsInAnyCompany) {
  SCOPED_TRACE(seed_);
  constexpr std::uint32_t kRows = 32;
  const Shape shape = shapes()[4];
  const auto bytes = weights(shape);
  const auto x = reference::draw(random_, kRows * shape.k, reference::Values::kUsual);
  for (const GroupedPath* path : paths()) {
    SCOPED_TRACE(path->name);
    auto projection = prepared(*path, shape, kRows, bytes, pool_);
    expect_same_bits_in_any_company(
        [&](std::uint32_t rows, const std::vector<Bf16>& some) {
          projection.set_rows(rows);
          return project(projection, some, rows, shape.n);
        },
        x, kRows, shape.n);
  }
}

TEST_P(EveryFormat, KeepsItsBitsWithAnyNumberOfThreads) {
  const Shape shape = shapes()[4];
  const auto bytes = weights(shape);
  const auto x = reference::draw(random_, 4 * shape.k, reference::Values::kUsual);
  std::vector<Bf16> first;
  for (const std::uint32_t threads : {1u, 2u, 3u, 9u}) {
    ThreadPool pool(threads);
    auto projection = prepared(*paths()[0], shape, 4, bytes, pool);
    const auto y = project(projection, x, 4, shape.n);
    if (first.empty()) first = y;
    EXPECT_EQ(y, first) << threads << " threads, seed " << seed_;
  }
}

#if defined(__x86_64__)
TEST_P(EveryFormat, LeavesTheControlWordAlone) {
  const unsigned before = _mm_getcsr();
  const Shape shape = shapes()[1];
  auto projection = prepared(*paths()[0], shape, 2, weights(shape), pool_);
  const auto y = project(projection, std::vector<Bf16>(2 * shape.k, 0x0001), 2, shape.n);
  EXPECT_EQ(_mm_getcsr() & 0xFFC0u, before & 0xFFC0u);
}
#endif

// -128 has no counterpart, so quantisers hardly make it; files may hold it.
TEST_P(EveryFormat, TakesTheLeastCode) {
  const auto& format = GetParam().format;
  if (format.block_bytes < format.block || format.block == 256)
    GTEST_SKIP() << "its codes are drawn over their whole range";
  const Shape shape{format.block == 1 ? 70 : 2 * format.block, 66};
  auto bytes = weights(shape);
  const auto layout = formats::layout_of(format, shape.k, shape.n);
  const std::size_t from = format.family == formats::Family::kBlocks ? format.block_bytes - 32 : 0;
  const std::byte least = std::byte{format.has_bias ? std::uint8_t{0} : std::uint8_t{0x80}};
  for (std::uint64_t j = 0; j < shape.n; ++j) bytes[j * layout.code_row + from] = least;
  std::vector<Bf16> x(shape.k, 0);
  x[0] = narrow(1);
  if (rounds()) x[0] = narrow(127);
  std::vector<double> w;
  for (const GroupedPath* path : paths()) {
    auto projection = prepared(*path, shape, 1, bytes, pool_);
    const auto y = project(projection, x, 1, shape.n);
    for (std::uint64_t j = 0; j < shape.n; ++j) {
      formats::dequantise_row(format, shape.k, shape.n, bytes.data(), j, w);
      const double exact = widen(x[0]) * w[0];
      ASSERT_NEAR(widen(y[j]), exact, std::ldexp(std::abs(exact), -8)) << path->name << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grouped, EveryFormat, testing::ValuesIn(known_cases()),
                         [](const auto& test) {
                           std::string name(test.param.format.name);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name + (test.param.activations == TARE_BF16 ? "" : "_rounded");
                         });

TEST(GroupedShape, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(grouped_shape(TARE_BF16, TARE_BF16, 64, 64), Error);
  EXPECT_THROW(grouped_shape(TARE_MLX_INT4_G64, TARE_BF16, 65, 64), Error);
  EXPECT_THROW(grouped_shape(TARE_MLX_INT4_G64, TARE_BF16_AS_INT8, 64, 64), Error);
}

// What a dispatch reads beside what the format holds: repeated scales of channels, whole bytes for
// Q4_K's 6 bits.
TEST(GroupedShape, PackedWeightsAreHardlyMoreBytesThanTheFormats) {
  for (const Case& known : known_cases()) {
    const auto shape = grouped_shape(known.format.type, known.activations, 4096, 1024);
    const double stored = formats::weight_bytes(known.format.type, 4096, 1024);
    const double allowed = known.format.group == 0 ? 1.016 : known.format.has_bias ? 1.028 : 1.0;
    EXPECT_LE(static_cast<double>(shape.bytes()) / stored, allowed) << known.format.name;
  }
}

TEST(ChooseGroupedPath, IsNoWiderThanTheNamedOne) {
  for (const PanelPath* named : panel_paths()) {
    const std::string_view wanted = named->name, chosen = choose_grouped_path(wanted).name;
    // "avx512vbmi" for "avx512"; "avx512" for "avx512bf16" on a processor without VBMI.
    EXPECT_TRUE(chosen.starts_with(wanted) || wanted.starts_with(chosen)) << wanted << chosen;
    if (wanted == "avx512") {
      EXPECT_NE(chosen, "avx512bf16");
    }
  }
}

TEST(ChooseRoundedPath, IsNoWiderThanTheNamedOne) {
  EXPECT_STREQ(choose_rounded_path("portable").name, "portable");
  EXPECT_EQ(&choose_rounded_path(""), rounded_paths()[0]);
}

}  // namespace
}  // namespace tare::kernels
