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

template <typename Element>
void expect_elements_in_their_places(std::uint32_t type) {
  for (const PackedShape shape :
       {PackedShape{1, 1, type}, PackedShape{33, 31, type}, PackedShape{19, 65, type}}) {
    std::vector<Element> weights(shape.k * shape.n);
    std::iota(weights.begin(), weights.end(), Element{1});
    std::vector<Element> packed(shape.bytes() / sizeof(Element), Element{77});
    pack_panels(shape, weights.data(), 0, shape.panels(), packed.data());
    ASSERT_EQ(packed.size(), shape.panels() * shape.k * 32);
    for (std::uint64_t at = 0; at < packed.size(); ++at) {
      const std::uint64_t output = at / (shape.k * 32) * 32 + at % 32;
      const std::uint64_t i = at / 32 % shape.k;
      const Element expected = output < shape.n ? weights[output * shape.k + i] : Element{0};
      ASSERT_EQ(packed[at], expected) << shape.k << "x" << shape.n << ": " << output << ", " << i;
    }
  }
}

TEST(PackPanels, PutsElementsOfF16AndF32InTheirPlaces) {
  expect_elements_in_their_places<std::uint16_t>(TARE_F16);
  expect_elements_in_their_places<float>(TARE_F32);
}

TEST(PackPanels, TouchesItsRangeOnly) {
  const PackedShape shape{6, 96};
  const std::vector<Bf16> weights(shape.k * shape.n, 1);
  std::vector<Bf16Pair> packed(shape.bytes() / sizeof(Bf16Pair), 0xAAAAAAAAu);
  pack_panels(shape, weights.data(), 1, 2, packed.data());
  const std::uint64_t panel = packed.size() / 3;
  EXPECT_EQ(packed[panel - 1], 0xAAAAAAAAu);
  EXPECT_EQ(packed[panel], 0x00010001u);
  EXPECT_EQ(packed[2 * panel - 1], 0x00010001u);
  EXPECT_EQ(packed[2 * panel], 0xAAAAAAAAu);
}

}  // namespace
}  // namespace tare::kernels
