#include "kernels/packing.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tare::kernels {
namespace {

// Where the layout's description says element (output, i) lies.
Bf16 at(const std::vector<Bf16Pair>& packed, const PackedShape& shape, std::uint64_t output,
        std::uint64_t i) {
  const std::uint64_t word = (output / 32) * shape.pairs() * 32 + (i / 2) * 32 + output % 32;
  return static_cast<Bf16>(packed[word] >> (i % 2 * 16));
}

std::vector<Bf16Pair> pack(const PackedShape& shape, const std::vector<Bf16>& weights) {
  std::vector<Bf16Pair> packed(shape.bytes() / sizeof(Bf16Pair), 0xAAAAAAAAu);
  pack_panels(shape, weights.data(), 0, shape.panels(), packed.data());
  return packed;
}

TEST(PackedShape, RoundsUp) {
  EXPECT_EQ((PackedShape{1, 1}.bytes()), 32u * 4);
  EXPECT_EQ((PackedShape{4096, 1024}.bytes()), 4096u * 1024 * 2);
  EXPECT_EQ((PackedShape{7, 65}.panels()), 3u);
  EXPECT_EQ((PackedShape{7, 65}.pairs()), 4u);
}

TEST(PackPanels, PutsEveryElementInItsPlaceAndPadsWithZeros) {
  for (const PackedShape shape : {PackedShape{1, 1}, PackedShape{2, 64}, PackedShape{33, 63},
                                  PackedShape{37, 130}, PackedShape{128, 65}}) {
    std::vector<Bf16> weights(shape.k * shape.n);
    std::iota(weights.begin(), weights.end(), Bf16{1});
    const auto packed = pack(shape, weights);
    for (std::uint64_t output = 0; output < shape.panels() * 32; ++output) {
      for (std::uint64_t i = 0; i < 2 * shape.pairs(); ++i) {
        const bool inside = output < shape.n && i < shape.k;
        ASSERT_EQ(at(packed, shape, output, i), inside ? weights[output * shape.k + i] : 0)
            << shape.k << "x" << shape.n << ": " << output << ", " << i;
      }
    }
  }
}

TEST(PackPanels, TouchesItsRangeOnly) {
  const PackedShape shape{6, 96};
  const std::vector<Bf16> weights(shape.k * shape.n, 1);
  std::vector<Bf16Pair> packed(shape.bytes() / sizeof(Bf16Pair), 0xAAAAAAAAu);
  pack_panels(shape, weights.data(), 1, 2, packed.data());
  EXPECT_EQ(packed[shape.panel_pairs() - 1], 0xAAAAAAAAu);
  EXPECT_EQ(packed[shape.panel_pairs()], 0x00010001u);
  EXPECT_EQ(packed[2 * shape.panel_pairs() - 1], 0x00010001u);
  EXPECT_EQ(packed[2 * shape.panel_pairs()], 0xAAAAAAAAu);
}

}  // namespace
}  // namespace tare::kernels
