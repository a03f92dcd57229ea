// 0 differing bits against oneDNN's bf16 matmul, which is somebody else's code: every row count
// from 1 to 32 on the shapes of the default models, and NaN beside numbers. On a processor without
// AVX-512 BF16 oneDNN 2.6 sums in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/support.h"
#include "kernels/panel_projection.h"
#include "tests/kernels/bare_data.h"
#include "tests/kernels/heap.h"
#include "tests/kernels/onednn_projection.h"
#include "tests/kernels/reference.h"

namespace tare::kernels {
namespace {

using reference::Values;

class OneDnnBits : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_avx512_bf16()) GTEST_SKIP() << "this processor has no AVX-512 BF16";
  }

  std::vector<Bf16> by_onednn(std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                              const std::vector<Bf16>& x, const std::vector<Bf16>& weights) {
    OneDnnProjection projection(k, n, rows);
    std::vector<std::byte> packed(projection.bytes());
    projection.bind(weights.data(), packed.data());
    std::vector<Bf16> y(rows * n);
    projection.run(0, x.data(), y.data());
    return y;
  }

  static std::vector<Bf16> by_us(SumOrder order, const PanelPath& path, std::uint64_t k,
                                 std::uint64_t n, std::uint32_t rows, const BareData& data) {
    ThreadPool pool(2);
    PanelProjection ours({k, n}, order, rows, 1, path, pool,
                         {.allocate = heap_allocate, .release = heap_release});
    ours.bind(0, data.weights.data());
    std::vector<Bf16> y(rows * n);
    ours.run(0, data.x.data(), y.data());
    return y;
  }

  void expect_same_bits(std::uint64_t k, std::uint64_t n) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << k << "x" << n << " seed " << seed);
    std::mt19937_64 random(seed);
    const BareData data = draw_bare(random, k, n, 32, onednn_order(k));
    ThreadPool pool(2);
    PanelProjection ours({k, n}, onednn_order(k), 1, 1, choose_panel_path(""), pool,
                         {.allocate = heap_allocate, .release = heap_release});
    ours.bind(0, data.weights.data());
    for (std::uint32_t rows = 1; rows <= 32; ++rows) {
      ours.set_rows(rows);
      std::vector<Bf16> y(rows * n);
      ours.run(0, data.x.data(), y.data());
      EXPECT_EQ(differing(y, by_onednn(k, n, rows, data.x, data.weights)), 0u) << "rows " << rows;
    }
  }
};

TEST_F(OneDnnBits, QwenSmallQ) {
  expect_same_bits(1536, 1536);
}
TEST_F(OneDnnBits, QwenSmallK) {
  expect_same_bits(1536, 256);
}
TEST_F(OneDnnBits, QwenLargeQ) {
  expect_same_bits(4096, 4096);
}
TEST_F(OneDnnBits, QwenLargeK) {
  expect_same_bits(4096, 1024);
}

TEST_F(OneDnnBits, WouldShowAnotherOrder) {
  std::mt19937_64 random(1);
  const std::uint64_t k = 1536, n = 256;
  const BareData data = draw_bare(random, k, n, 1, onednn_order(k));
  const auto theirs = by_onednn(k, n, 1, data.x, data.weights);
  EXPECT_GT(differing(by_us({2048}, choose_panel_path(""), k, n, 1, data), theirs), n / 2);
}

TEST_F(OneDnnBits, AreOursForEveryKindOfValueToo) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::uint64_t n = 96;
  for (const std::uint64_t k : {6u, 64u, 130u, 515u, 1536u}) {
    for (const std::uint32_t rows : {1u, 5u, 8u}) {
      for (const Values values : {Values::kAnyFinite, Values::kAnyBits}) {
        const BareData data{reference::draw(random, rows * k, values),
                            reference::draw(random, n * k, values)};
        const auto theirs = by_onednn(k, n, rows, data.x, data.weights);
        for (const auto* path : panel_paths()) {
          EXPECT_EQ(differing(by_us(onednn_order(k), *path, k, n, rows, data), theirs), 0u)
              << path->name << ' ' << k << "x" << n << " rows " << rows << " values "
              << static_cast<int>(values);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tare::kernels
