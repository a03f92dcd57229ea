// 0 differing bits against oneDNN's bf16 matmul, which is somebody else's code: every row count
// from 1 to 32 on the shapes of the default models, and NaN beside numbers. On a processor without
// AVX-512 BF16 oneDNN 2.6 sums in another order, and on one with AMX it would from two rows on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

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
  // Before its first product.
  static void SetUpTestSuite() { dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16); }
  void SetUp() override {
    if (!has_avx512_bf16()) GTEST_SKIP() << "this processor has no AVX-512 BF16";
  }

  template <typename Bias = Bf16>
  static constexpr std::uint32_t kTypeOf = std::is_same_v<Bias, float> ? TARE_F32 : TARE_BF16;

  template <typename Bias = Bf16>
  std::vector<Bf16> by_onednn(std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                              const std::vector<Bf16>& x, const std::vector<Bf16>& weights,
                              const std::vector<Bias>& bias = {}) {
    OneDnnProjection projection(k, n, rows, bias.empty() ? 0 : kTypeOf<Bias>);
    std::vector<std::byte> packed(projection.bytes());
    projection.bind(weights.data(), packed.data());
    std::vector<Bf16> y(rows * n);
    projection.run(0, x.data(), y.data(), bias.data());
    return y;
  }

  static std::vector<Bf16> by_us(SumOrder order, const PanelPath& path, std::uint64_t k,
                                 std::uint64_t n, std::uint32_t rows, const BareData& data,
                                 const std::vector<Bf16>& bias = {}) {
    ThreadPool pool(2);
    const std::uint32_t type = bias.empty() ? 0 : TARE_BF16;
    PanelProjection ours({k, n, TARE_BF16, type}, order, rows, 1, path, pool,
                         {.allocate = heap_allocate, .release = heap_release});
    ours.bind(0, with_bias(data.weights, bias).data());
    std::vector<Bf16> y(rows * n);
    ours.run(0, data.x.data(), y.data());
    return y;
  }

  void expect_same_bits(std::uint64_t k, std::uint64_t n) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << k << "x" << n << " seed " << seed);
    std::mt19937_64 random(seed);
    expect_same_bits_with(std::vector<Bf16>{}, k, n, draw_bare(random, k, n, 32, onednn_order(k)));
  }
  template <typename Bias>
  void expect_same_bits_with(const std::vector<Bias>& bias, std::uint64_t k, std::uint64_t n,
                             const BareData& data) {
    ThreadPool pool(2);
    PanelProjection ours({k, n, TARE_BF16, bias.empty() ? 0 : kTypeOf<Bias>}, onednn_order(k), 1, 1,
                         choose_panel_path(""), pool,
                         {.allocate = heap_allocate, .release = heap_release});
    ours.bind(0, with_bias(data.weights, bias).data());
    for (std::uint32_t rows = 1; rows <= 32; ++rows) {
      ours.set_rows(rows);
      std::vector<Bf16> y(rows * n);
      ours.run(0, data.x.data(), y.data());
      EXPECT_EQ(differing(y, by_onednn(k, n, rows, data.x, data.weights, bias)), 0u)
          << k << "x" << n << " rows " << rows;
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

// Data whose sums cancel but for what the bias is about to show, or leaves to be seen.
TEST_F(OneDnnBits, OfABiasOfEitherType) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (const auto& [k, n] : {std::pair{1536, 1536}, std::pair{4096, 1024}, std::pair{515, 67}}) {
    const auto wide_k = static_cast<std::uint64_t>(k), wide_n = static_cast<std::uint64_t>(n);
    const BareData data{reference::draw(random, 32 * wide_k, Values::kUsual),
                        reference::draw(random, wide_n * wide_k, Values::kUsual)};
    const auto bias = bare_bias(data, wide_k, wide_n, 32, onednn_order(wide_k));
    expect_same_bits_with(bias, wide_k, wide_n, data);
    std::vector<float> wide = widened(bias);
    for (float& value : wide) value *= 1 - 0x1p-20F;  // no bf16 value
    expect_same_bits_with(wide, wide_k, wide_n, data);
  }
}

TEST_F(OneDnnBits, OfABiasOfEveryKindOfValue) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::uint64_t n = 96, k = 130;
  for (const Values values : {Values::kAnyFinite, Values::kAnyBits}) {
    const BareData data{reference::draw(random, 8 * k, values),
                        reference::draw(random, n * k, values)};
    const auto bias = reference::draw(random, n, values);
    const auto theirs = by_onednn(k, n, 8, data.x, data.weights, bias);
    for (const auto* path : panel_paths())
      EXPECT_EQ(differing(by_us(onednn_order(k), *path, k, n, 8, data, bias), theirs), 0u)
          << path->name << " values " << static_cast<int>(values);
  }
}

// Added to a total that was rounded, or to the first sum, it gives other bits: so the data would
// show it.
TEST_F(OneDnnBits, WouldShowABiasThatIsAddedElsewhere) {
  std::mt19937_64 random(1);
  const std::uint64_t k = 4096, n = 256;
  const BareData data{reference::draw(random, k, Values::kUsual),
                      reference::draw(random, n * k, Values::kUsual)};
  const auto bias = bare_bias(data, k, n, 1, onednn_order(k));
  const auto theirs = by_onednn(k, n, 1, data.x, data.weights, bias);
  std::size_t of_rounded = 0, of_first = 0;
  for (std::uint64_t j = 0; j < n; ++j) {
    const Bf16* w = data.weights.data() + j * k;
    const float total = reference::dot(data.x.data(), w, k, onednn_order(k));
    const float added = widened({bias[j]}).front();
    of_rounded += narrow(widened({narrow(total)}).front() + added) != theirs[j];
    float sum = added;
    for (std::uint64_t chunk = 0; chunk < k; chunk += 1024)
      sum += reference::dot(data.x.data() + chunk, w + chunk, 1024, onednn_order(k));
    of_first += narrow(sum) != theirs[j];
  }
  EXPECT_GT(of_rounded, n / 2);
  EXPECT_GT(of_first, 0u);
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
