// The panel kernel on tiles: the algorithm with tiles in plain C++, on any machine, and with the
// processor's where it has them, against sums written down from Intel's description of TDPBF16PS.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "kernels/cpu/amx_panel.h"
#include "kernels/cpu/paths.h"
#include "kernels/cpu/support.h"
#include "kernels/panel_projection.h"
#include "tests/kernels/bare_data.h"
#include "tests/kernels/company.h"
#include "tests/kernels/every_output.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/heap.h"
#include "tests/kernels/near_fp64.h"
#include "tests/kernels/reference.h"

namespace tare::kernels {
namespace {

using reference::Values;

// Tiles 0 to 7 of 16 rows of 64 bytes, of this thread.
struct Tile {
  std::uint64_t rows = 0;
  Bf16Pair word[16][16] = {};
};
Tile& tile(int index) {
  static thread_local Tile tiles[8];
  return tiles[index];
}
float as_float(Bf16Pair bits) {
  return std::bit_cast<float>(bits);
}
Bf16 even(Bf16Pair pair) {
  return static_cast<Bf16>(pair);
}
Bf16 odd(Bf16Pair pair) {
  return static_cast<Bf16>(pair >> 16);
}

struct EmulatedUnit {
  static constexpr Nan kNan = Nan::kDefault;
  static void configure(std::uint64_t first_rows, std::uint64_t second_rows) {
    for (const int index : {0, 1, 6}) tile(index).rows = first_rows;
    for (const int index : {2, 3, 7}) tile(index).rows = second_rows;
    for (const int index : {4, 5}) tile(index).rows = kAmxPairs;
  }
  static void release() {
    for (int index = 0; index < 8; ++index) tile(index).rows = 0;
  }
  template <int kTile>
  static void zero() {
    std::memset(tile(kTile).word, 0, sizeof tile(kTile).word);
  }
  template <int kTile>
  static void load(const std::byte* from, std::uint64_t stride) {
    zero<kTile>();
    for (std::uint64_t row = 0; row < tile(kTile).rows; ++row)
      std::memcpy(tile(kTile).word[row], from + row * stride, 64);
  }
  template <int kTile>
  static void load_once(const std::byte* from, std::uint64_t stride) {
    load<kTile>(from, stride);
  }
  template <int kTile>
  static void store(float* into, std::uint64_t stride) {
    for (std::uint64_t row = 0; row < tile(kTile).rows; ++row)
      std::memcpy(reinterpret_cast<std::byte*>(into) + row * stride, tile(kTile).word[row], 64);
  }
  template <int kSum, int kX, int kWeights>
  static void multiply() {
    for (std::uint64_t row = 0; row < tile(kSum).rows; ++row) {
      for (int output = 0; output < 16; ++output) {
        float evens = 0, odds = 0;
        for (int pair = 0; pair < 16; ++pair) {
          const Bf16Pair x = tile(kX).word[row][pair], w = tile(kWeights).word[pair][output];
          evens = multiply_add_flushed(widen(even(x)), widen(even(w)), evens);
          odds = multiply_add_flushed(widen(odd(x)), widen(odd(w)), odds);
        }
        Bf16Pair& sum = tile(kSum).word[row][output];
        sum = std::bit_cast<Bf16Pair>(flushed(flushed(as_float(sum)) + flushed(evens + odds)));
      }
    }
  }
};

const PanelPath kEmulated{
    .name = "emulated",
    .isa = "portable C++",
    .tile = "",
    .scratch_bytes = [](std::uint64_t pairs, std::uint64_t,
                        std::uint64_t) { return AmxScratch::bytes(pairs); },
    .run = &run_amx<EmulatedUnit>,
};

// One output, element by element; nothing of tiles in it.
Bf16 expected(const Bf16* x, const Bf16* w, std::uint64_t k, float bias = -0.0F) {
  float total = 0;
  for (std::uint64_t first = 0; first < k; first += 32) {
    float part[2] = {0, 0};  // of even and of odd elements
    for (std::uint64_t i = first; i < first + 32; ++i) {
      const float product_x = i < k ? widen(x[i]) : 0.0F, product_w = i < k ? widen(w[i]) : 0.0F;
      part[i % 2] = multiply_add_flushed(product_w, product_x, part[i % 2]);
    }
    total = flushed(total + flushed(part[0] + part[1]));
  }
  total += bias;  // -0 is none: it leaves every number as it is
  return std::isnan(total) ? Bf16{0xFFC0} : narrow(total);
}

class Amx : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam() && !has_amx_bf16()) GTEST_SKIP() << "this processor has no AMX tiles";
  }
  const PanelPath& path() const { return GetParam() ? kEmulated : amx_panel_path(); }

  std::vector<Bf16> project(std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                            const std::vector<Bf16>& x, const std::vector<Bf16>& w,
                            ThreadPool& pool) {
    PanelProjection projection({k, n}, SumOrder{128}, rows, 1, path(), pool,
                               {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, w.data());
    return run_guarded(projection, x.data(), rows * n);
  }

  void expect_bits(std::uint64_t k, std::uint64_t n, std::uint32_t rows, Values values) {
    SCOPED_TRACE(testing::Message() << k << "x" << n << " rows " << rows << " seed " << seed_);
    const auto x = reference::draw(random_, rows * k, values);
    const auto w = reference::draw(random_, n * k, values);
    expect_every_output(project(k, n, rows, x, w, pool_), rows,
                        [&](std::uint64_t row, std::uint64_t j) {
                          return expected(x.data() + row * k, w.data() + j * k, k);
                        });
  }

  std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  ThreadPool pool_{2};
};

TEST_P(Amx, HasTheInstructionsBitsAtEveryRowCount) {
  for (std::uint32_t rows = 1; rows <= 34; ++rows) expect_bits(96, 64, rows, Values::kUsual);
}

TEST_P(Amx, HasTheInstructionsBitsAtOddShapes) {
  expect_bits(1, 1, 1, Values::kUsual);
  expect_bits(31, 33, 17, Values::kUsual);
  expect_bits(33, 31, 3, Values::kUsual);
  expect_bits(1031, 67, 18, Values::kUsual);
  expect_bits(640, 70, 70, Values::kUsual);
}

TEST_P(Amx, HasTheInstructionsBitsOnEveryKindOfValue) {
  for (const std::uint32_t rows : {1u, 20u}) {
    expect_bits(5, 40, rows, Values::kAnyFinite);
    expect_bits(200, 40, rows, Values::kAnyFinite);
    expect_bits(5, 40, rows, Values::kAnyBits);
    expect_bits(200, 40, rows, Values::kAnyBits);
  }
}

TEST_P(Amx, AddsABiasToEveryRow) {
  SCOPED_TRACE(seed_);
  constexpr std::uint64_t kK = 40, kN = 67;
  constexpr std::uint32_t kRows = 34;
  const auto x = reference::draw(random_, kRows * kK, Values::kUsual);
  const auto w = reference::draw(random_, kN * kK, Values::kUsual);
  const auto bias = reference::draw(random_, kN, Values::kUsual);
  PanelProjection projection({kK, kN, TARE_BF16, TARE_BF16}, SumOrder{128}, kRows, 1, path(), pool_,
                             {.allocate = heap_allocate, .release = heap_release});
  projection.bind(0, with_bias(w, bias).data());
  expect_every_output(run_guarded(projection, x.data(), kRows * kN), kRows,
                      [&](std::uint64_t row, std::uint64_t j) {
                        return expected(x.data() + row * kK, w.data() + j * kK, kK,
                                        widened({bias[j]}).front());
                      });
}

TEST_P(Amx, IsNearFp64) {
  SCOPED_TRACE(seed_);
  constexpr std::uint64_t kK = 1536, kN = 65, kRows = 19;
  const auto x = reference::draw(random_, kRows * kK, Values::kUsual);
  const auto w = reference::draw(random_, kN * kK, Values::kUsual);
  expect_near_fp64(project(kK, kN, kRows, x, w, pool_), x, kRows,
                   [&](std::uint64_t j, std::uint64_t i) { return widen(w[j * kK + i]); });
}

TEST_P(Amx, KeepsARowsBitsInAnyCompanyAndWithAnyThreads) {
  SCOPED_TRACE(seed_);
  constexpr std::uint64_t kK = 333, kN = 100;
  constexpr std::uint32_t kRows = 32;
  const auto x = reference::draw(random_, kRows * kK, Values::kUsual);
  const auto w = reference::draw(random_, kN * kK, Values::kUsual);
  ThreadPool three(3);
  EXPECT_EQ(project(kK, kN, kRows, x, w, three), project(kK, kN, kRows, x, w, pool_));
  expect_same_bits_in_any_company(
      [&](std::uint32_t rows, const std::vector<Bf16>& some) {
        return project(kK, kN, rows, some, w, pool_);
      },
      x, kRows, kN);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Amx, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "emulated" : "processor");
});

TEST(AmxPanelPath, IsThereOrRefusedWithASentence) {
  if (has_amx_bf16()) {
    EXPECT_STREQ(amx_panel_path().name, "amx");
    return;
  }
  try {
    amx_panel_path();
    FAIL() << "not refused";
  } catch (const Error& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("AMX"), std::string::npos);
  }
}

}  // namespace
}  // namespace tare::kernels
