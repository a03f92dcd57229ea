#include "base/hash128.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(Hash128, OfNothingIsThePublishedOne) {
  // xxHash's own sanity test: XXH3_128bits of length 0, seed 0.
  EXPECT_EQ(Hash128().hexadecimal(), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash128, PiecesDoNotMatter) {
  const std::string text(100'000, 'x');
  Hash128 whole, pieces;
  whole.add(text.data(), text.size());
  for (std::size_t first = 0, size = 1; first < text.size(); first += size, size = size * 3 % 1009)
    pieces.add(text.data() + first, std::min(size, text.size() - first));
  EXPECT_EQ(pieces.hexadecimal(), whole.hexadecimal());
  whole.add("y", 1);
  EXPECT_NE(pieces.hexadecimal(), whole.hexadecimal());
}

}  // namespace
}  // namespace tare
