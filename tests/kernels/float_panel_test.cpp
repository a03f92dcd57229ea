// Panels of f16 and f32 weights: every path against one output at a time by std::fma, bit by bit,
// and against fp64; that a row's bits depend neither on its company nor on the caller's control
// word.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>

#include "formats/half.h"
#include "kernels/panel_projection.h"
#include "tare/arm.h"
#include "tests/kernels/company.h"
#include "tests/kernels/every_output.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/heap.h"
#include "tests/kernels/near_fp64.h"
#include "tests/kernels/reference.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tare::kernels {
namespace {

using reference::Values;

// Weights as the problem hands them over, and as numbers.
struct Weights {
  std::vector<std::byte> bytes;
  std::vector<float> numbers;
};

Weights draw_weights(std::mt19937_64& random, std::uint32_t type, std::size_t count,
                     Values values) {
  std::normal_distribution<float> bell;
  Weights all;
  const std::size_t size = type == TARE_F16 ? 2 : 4;
  all.bytes.resize(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = values == Values::kUsual ? std::bit_cast<std::uint32_t>(bell(random))
                                                  : static_cast<std::uint32_t>(random());
    if (type == TARE_F16)
      bits = values == Values::kUsual ? formats::to_f16_bits(std::bit_cast<float>(bits))
                                      : bits & 0xFFFFU;
    const auto number = [&] {
      return type == TARE_F16 ? formats::from_f16(static_cast<std::uint16_t>(bits))
                              : std::bit_cast<float>(bits);
    };
    if (values == Values::kAnyFinite && !std::isfinite(number()))
      bits &= type == TARE_F16 ? 0x83FFU : 0x807FFFFFU;  // a subnormal instead
    std::memcpy(all.bytes.data() + i * size, &bits, size);
    all.numbers.push_back(number());
  }
  return all;
}

float wide(Bf16 x) {
  return widen_unflushed(x);
}

float wide(float x) {
  return x;
}

// How so many elements are added: chunks, whose sums are added, of runs, whose sums are.
struct Lengths {
  std::uint64_t chunk, run;
};
Lengths lengths(std::uint32_t type, std::uint64_t k) {
  if (type == TARE_F16) return {128, 16};
  const std::uint64_t chunk = k <= 1024 ? 512 : 1024;
  return {chunk, chunk};
}

template <typename Value>
float expected_sum(const Value* x, const float* w, std::uint64_t k, std::uint32_t type) {
  const auto [chunk, run] = lengths(type, k);
  float total = 0;
  for (std::uint64_t first = 0; first < k; first += chunk) {
    const std::uint64_t last = std::min(first + chunk, k);
    float sum = 0;
    for (std::uint64_t from = first; from < last; from += run) {
      float part = 0;
      for (std::uint64_t i = from; i < std::min(from + run, last); ++i)
        part = std::fma(w[i], wide(x[i]), part);
      sum += part;
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

// A bias of -0 is none: it leaves every number as it is.
Bf16 expected(const Bf16* x, const float* w, std::uint64_t k, std::uint32_t type,
              float bias = -0.0F) {
  const float total = expected_sum(x, w, k, type) + bias;
  return std::isnan(total) ? Bf16{0xFFC0} : narrow_unflushed(total);
}

struct Case {
  std::uint32_t type;
  const PanelPath* path;
};

class FloatPanel : public testing::TestWithParam<Case> {
 protected:
  template <typename Value>
  std::vector<Value> project(std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                             const std::vector<Value>& x, const Weights& w, ThreadPool& pool) {
    PanelProjection projection({k, n, GetParam().type}, float_order(k, GetParam().type), rows, 1,
                               *GetParam().path, pool,
                               {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, w.bytes.data());
    return run_guarded(projection, x.data(), rows * n);
  }

  void expect_bits(std::uint64_t k, std::uint64_t n, std::uint32_t rows, Values values) {
    SCOPED_TRACE(testing::Message() << k << "x" << n << " rows " << rows << " seed " << seed_);
    const auto x = reference::draw(random_, rows * k, values);
    const Weights w = draw_weights(random_, GetParam().type, n * k, values);
    expect_every_output(
        project(k, n, rows, x, w, pool_), rows, [&](std::uint64_t row, std::uint64_t j) {
          return expected(x.data() + row * k, w.numbers.data() + j * k, k, GetParam().type);
        });
  }

  std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  ThreadPool pool_{2};
};

TEST_P(FloatPanel, HasTheReferencesBitsAtEveryRowCount) {
  for (std::uint32_t rows = 1; rows <= 32; ++rows) expect_bits(70, 64, rows, Values::kUsual);
}

TEST_P(FloatPanel, AddsABiasBeforeTheRounding) {
  SCOPED_TRACE(seed_);
  const std::uint64_t k = 131, n = 67;
  const std::uint32_t rows = 5;
  for (const Values values : {Values::kUsual, Values::kAnyFinite, Values::kAnyBits}) {
    SCOPED_TRACE(static_cast<int>(values));
    const auto x = reference::draw(random_, rows * k, values);
    Weights w = draw_weights(random_, GetParam().type, n * k, values);
    const Weights bias = draw_weights(random_, GetParam().type, n, values);
    w.bytes.resize((w.bytes.size() + 63) / 64 * 64);
    w.bytes.insert(w.bytes.end(), bias.bytes.begin(), bias.bytes.end());
    PanelProjection projection({k, n, GetParam().type, GetParam().type},
                               float_order(k, GetParam().type), rows, 1, *GetParam().path, pool_,
                               {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, w.bytes.data());
    expect_every_output(run_guarded(projection, x.data(), rows * n), rows,
                        [&](std::uint64_t row, std::uint64_t j) {
                          return expected(x.data() + row * k, w.numbers.data() + j * k, k,
                                          GetParam().type, bias.numbers[j]);
                        });
  }
}

TEST_P(FloatPanel, HasTheReferencesBitsAtOddShapes) {
  expect_bits(1, 1, 1, Values::kUsual);
  expect_bits(3, 33, 9, Values::kUsual);
  expect_bits(127, 31, 13, Values::kUsual);
  expect_bits(1031, 67, 2, Values::kUsual);
  expect_bits(2051, 35, 7, Values::kUsual);
  expect_bits(2049, 3, 31, Values::kUsual);
}

TEST_P(FloatPanel, HasTheReferencesBitsOnEveryKindOfValue) {
  for (const std::uint32_t rows : {1u, 3u, 15u}) {
    expect_bits(5, 40, rows, Values::kAnyFinite);
    expect_bits(1100, 33, rows, Values::kAnyFinite);
    expect_bits(5, 40, rows, Values::kAnyBits);
    expect_bits(1100, 33, rows, Values::kAnyBits);
  }
}

// x and y f32: the reference's very sums, of activations that bf16 does not hold.
TEST_P(FloatPanel, HasTheReferencesSumsOfF32Activations) {
  SCOPED_TRACE(seed_);
  std::normal_distribution<float> bell;
  for (const auto& [k, n, rows] : {std::tuple{1u, 1u, 1u}, std::tuple{70u, 64u, 5u},
                                   std::tuple{1031u, 67u, 11u}, std::tuple{2051u, 35u, 32u}}) {
    std::vector<float> x(std::size_t{rows} * k);
    for (float& value : x) value = bell(random_);
    const Weights w = draw_weights(random_, GetParam().type, std::size_t{n} * k, Values::kUsual);
    SCOPED_TRACE(testing::Message() << k << 'x' << n);
    expect_every_output(
        project(k, n, rows, x, w, pool_), rows, [&, k = k](std::uint64_t row, std::uint64_t j) {
          return expected_sum(x.data() + row * k, w.numbers.data() + j * k, k, GetParam().type);
        });
  }
}

TEST_P(FloatPanel, IsNearFp64) {
  SCOPED_TRACE(seed_);
  constexpr std::uint64_t kK = 1536, kN = 65;
  for (const std::uint32_t rows : {1u, 8u, 32u}) {
    const auto x = reference::draw(random_, rows * kK, Values::kUsual);
    const Weights w = draw_weights(random_, GetParam().type, kN * kK, Values::kUsual);
    expect_near_fp64(project(kK, kN, rows, x, w, pool_), x, rows,
                     [&](std::uint64_t j, std::uint64_t i) { return w.numbers[j * kK + i]; });
  }
}

TEST_P(FloatPanel, KeepsARowsBitsInAnyCompanyAndWithAnyThreads) {
  SCOPED_TRACE(seed_);
  constexpr std::uint64_t kK = 333, kN = 100;
  constexpr std::uint32_t kRows = 32;
  const auto x = reference::draw(random_, kRows * kK, Values::kUsual);
  const Weights w = draw_weights(random_, GetParam().type, kN * kK, Values::kUsual);
  ThreadPool three(3);
  EXPECT_EQ(project(kK, kN, kRows, x, w, three), project(kK, kN, kRows, x, w, pool_));
  expect_same_bits_in_any_company(
      [&](std::uint32_t rows, const std::vector<Bf16>& some) {
        return project(kK, kN, rows, some, w, pool_);
      },
      x, kRows, kN);
}

#if defined(__x86_64__)
TEST_P(FloatPanel, GivesTheSameBitsUnderAnyControlWordAndLeavesIt) {
  constexpr unsigned kFlushTowardsZero = 0x1F80u | 0x8000u | 0x0040u | 0x6000u;
  const auto x = reference::draw(random_, 2 * 9, Values::kAnyFinite);
  const Weights w = draw_weights(random_, GetParam().type, 9 * 9, Values::kAnyFinite);
  ThreadPool alone(1);  // on this thread
  const auto usual = project(9, 9, 2, x, w, alone);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(kFlushTowardsZero);
  const auto y = project(9, 9, 2, x, w, alone);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(y, usual) << "seed " << seed_;
  EXPECT_EQ(after & 0xFFC0u, kFlushTowardsZero & 0xFFC0u);
}
#endif

std::vector<Case> every_path() {
  std::vector<Case> cases;
  for (const std::uint32_t type : {std::uint32_t{TARE_F16}, std::uint32_t{TARE_F32}})
    for (const PanelPath* path : panel_paths(type)) cases.push_back({type, path});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Kernels, FloatPanel, testing::ValuesIn(every_path()),
                         [](const auto& test) {
                           return std::string(test.param.type == TARE_F16 ? "f16_" : "f32_") +
                                  test.param.path->name;
                         });

TEST(ChooseFloatPath, IsNoWiderThanTheOneNamed) {
  for (const std::uint32_t type : {std::uint32_t{TARE_F16}, std::uint32_t{TARE_F32}}) {
    EXPECT_STREQ(choose_panel_path("portable", type).name, "portable");
    EXPECT_EQ(&choose_panel_path("", type), panel_paths(type).front());
    for (const PanelPath* path : panel_paths(type))
      EXPECT_EQ(&choose_panel_path(path->name, type), path);
  }
}

}  // namespace
}  // namespace tare::kernels
