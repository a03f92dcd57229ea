// f32 in and out of the kernels, as engines have it: of x that bf16 holds exactly, y is what the
// bf16 kernel rounds to its own y; of any other x, within what 8 bits allow of the fp64 product.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "formats/decode.h"
#include "kernels/cpu/paths.h"
#include "kernels/grouped_packing.h"
#include "kernels/packing.h"
#include "kernels/sum_order.h"
#include "prove/weights.h"
#include "tests/kernels/heap.h"
#include "tests/kernels/reference.h"

namespace tare::kernels {
namespace {

constexpr std::uint64_t kK = 768, kN = 130;

class Wide : public testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    const prove::WeightKey key{GetParam(), kK, kN, seed_, 0};
    weights_.resize(prove::weight_buffer_bytes(key));
    prove::generate_slot(key, weights_.data());
    shape_ = grouped_shape(GetParam(), TARE_BF16_AS_INT8, kK, kN);
    packed_.reset(static_cast<std::byte*>(heap_allocate(shape_.bytes())));
    pack_grouped(shape_, GetParam(), weights_.data(), 0, shape_.panels(), packed_.get());
  }

  void run(const GroupedPath& path, GroupedTask task, std::uint64_t rows) const {
    const Memory scratch(static_cast<std::byte*>(heap_allocate(path.scratch_bytes(shape_, rows))));
    task.shape = shape_;
    task.weights = packed_.get();
    task.scratch = scratch.get();
    task.rows = rows;
    task.last_panel = shape_.panels();
    path.run(task);
  }

  struct Release {
    void operator()(std::byte* memory) const { heap_release(memory); }
  };
  using Memory = std::unique_ptr<std::byte, Release>;
  std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  std::vector<std::byte> weights_;
  GroupedShape shape_;
  Memory packed_;
};

TEST_P(Wide, RoundsToWhatTheBf16KernelGives) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  for (const auto values : {reference::Values::kUsual, reference::Values::kAnyBits}) {
    for (const std::uint64_t rows : {1u, 3u, 11u}) {
      const auto x = reference::draw(random_, rows * kK, values);
      std::vector<float> wide_x;
      for (const Bf16 one : x)
        wide_x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(one) << 16));
      for (const GroupedPath* path : rounded_paths()) {
        std::vector<Bf16> y(rows * kN), rounded;
        std::vector<float> wide_y(rows * kN);
        run(*path, {.x = x.data(), .y = y.data()}, rows);
        run(*path, {.wide_x = wide_x.data(), .wide_y = wide_y.data()}, rows);
        for (const float one : wide_y)
          rounded.push_back(std::isnan(one) ? Bf16{0x7FC0} : narrow_unflushed(one));
        ASSERT_EQ(rounded, y) << path->name << " rows " << rows;
      }
    }
  }
}

TEST_P(Wide, IsNearFp64AndAllPathsHaveTheSameBits) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  std::normal_distribution<float> normal;
  std::vector<float> x(kK), first;
  for (float& one : x) one = normal(random_);
  for (const GroupedPath* path : rounded_paths()) {
    std::vector<float> y(kN);
    run(*path, {.wide_x = x.data(), .wide_y = y.data()}, 1);
    if (first.empty()) first = y;
    ASSERT_EQ(y, first) << path->name;
  }
  std::vector<double> w;
  const formats::WeightFormat& format = formats::format_of(GetParam());
  for (std::uint64_t j = 0; j < kN; ++j) {
    formats::dequantise_row(format, kK, kN, weights_.data(), j, w);
    double exact = 0, magnitude = 0, rounding = 0, largest = 0;
    for (std::uint64_t i = 0; i < kK; ++i) {
      if (i % 32 == 0) {
        largest = 0;
        for (std::uint64_t l = i; l < i + 32; ++l)
          largest = std::max(largest, std::abs(static_cast<double>(x[l])));
      }
      exact += x[i] * w[i];
      magnitude += std::abs(x[i] * w[i]);
      // Half of one of 127 steps, and what the step itself is rounded by.
      rounding += largest / 127 * (0.5 + 0x1p-16) * std::abs(w[i]);
    }
    // f32 sums: codes of up to 256 steps where a format counts from zero, 2^-24 for each of k.
    ASSERT_NEAR(first[j], exact, rounding + 256 * kK * std::ldexp(magnitude, -24))
        << "output " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Wide,
                         testing::Values(TARE_GGUF_Q8_0, TARE_GGUF_Q4_0, TARE_GGUF_Q5_0,
                                         TARE_GGUF_Q4_K, TARE_GGUF_Q6_K),
                         [](const auto& one) {
                           return std::string(formats::type_name(one.param));
                         });

// Panels: y of f32 is the sum that the other y is rounded from.
TEST(WidePanel, RoundsToTheBf16Y) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  constexpr std::uint64_t kRows = 3;
  const PackedShape shape{kK, kN};
  const auto w = reference::draw(random, kK * kN, reference::Values::kUsual);
  const auto x = reference::draw(random, kK * kRows, reference::Values::kUsual);
  auto* packed = static_cast<Bf16Pair*>(heap_allocate(shape.bytes()));
  pack_panels(shape, w.data(), 0, shape.panels(), packed);
  for (const PanelPath* path : panel_paths()) {
    void* scratch = heap_allocate(path->scratch_bytes(shape.pairs(), kRows, 1));
    std::vector<Bf16> y(kRows * kN);
    std::vector<float> wide(kRows * kN);
    PanelTask task{.weights = packed, .x = x.data(), .y = y.data(), .scratch = scratch};
    task.k = kK;
    task.n = kN;
    task.rows = kRows;
    task.pairs = shape.pairs();
    task.chunk_pairs = onednn_order(kK).chunk / 2;
    task.last_panel = shape.panels();
    path->run(task);
    task.wide_y = wide.data();
    path->run(task);
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(narrow(wide[i]), y[i]) << path->name;
    heap_release(scratch);
  }
  heap_release(packed);
}

}  // namespace
}  // namespace tare::kernels
