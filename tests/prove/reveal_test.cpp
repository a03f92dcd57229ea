// Orders of addition that are known, because the test builds them, come out as they are.
#include "prove/reveal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.h"

namespace tare::prove {
namespace {

using Products = std::vector<float>;
using Sum = std::function<float(const Products&)>;

// f32 sums in the order under test, laid open by masks.
CountReached counting(std::uint64_t k, const Sum& sum) {
  return [k, sum](std::uint64_t i, std::uint64_t j, std::span<const std::uint64_t> units) {
    Products products(k, 0.0F);
    for (const std::uint64_t unit : units) products[unit] = 1;
    products[i] = 0x1p60F;
    products[j] = -0x1p60F;
    return static_cast<std::uint64_t>(sum(products));
  };
}

SumTree tree_of(std::uint64_t k, const Sum& sum) {
  return reveal(k, counting(k, sum));
}

// Where all bits of a random sum are predicted, the tree is right.
void expect_predicts(const SumTree& tree, std::uint64_t k, const Sum& sum) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> bell;
  for (int i = 0; i < 50; ++i) {
    Products products(k);
    for (float& product : products) product = bell(random);
    ASSERT_EQ(sum_in_order(tree, products, Products(k, 1.0F)), sum(products));
  }
}

// Factors of 24 bits, whose product has no f32.
TEST(SumInOrder, FusesAProductIntoItsSum) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> bell;
  constexpr std::uint64_t kK = 100;
  const SumTree tree =
      tree_of(kK, [](const Products& p) { return std::accumulate(p.begin(), p.end(), 0.0F); });
  int unfused = 0;
  for (int i = 0; i < 50; ++i) {
    Products x(kK), weights(kK);
    for (float& value : x) value = bell(random);
    for (float& value : weights) value = bell(random);
    float fused = 0, rounded = 0;
    for (std::uint64_t at = 0; at < kK; ++at) {
      fused = std::fma(x[at], weights[at], fused);
      const volatile float product = x[at] * weights[at];  // which a compiler must not fuse
      rounded += product;
    }
    ASSERT_EQ(sum_in_order(tree, x, weights), fused);
    unfused += fused != rounded ? 1 : 0;
  }
  EXPECT_GT(unfused, 25) << "the data would not show it";
}

float in_order(const Products& p) {
  return std::accumulate(p.begin(), p.end(), 0.0F);
}

// Not vectorised: GCC 12 at -O3 adds these in a wrong order, and some of them twice.
[[gnu::optimize("no-tree-vectorize")]] float in_pairs(const Products& p) {
  float sum = 0;
  for (std::size_t i = 0; i + 1 < p.size(); i += 2) {
    sum += p[i + 1];
    sum += p[i];
  }
  return sum;
}

Sum in_chunks(std::size_t chunk, const Sum& each) {
  return [=](const Products& p) {
    float total = 0;
    for (std::size_t first = 0; first < p.size(); first += chunk) {
      const std::size_t last = std::min(first + chunk, p.size());
      const float part = each(Products(p.begin() + first, p.begin() + last));
      total = first == 0 ? part : total + part;
    }
    return total;
  };
}

// The sums of a lane each; then lanes are folded, the upper half onto the lower.
Sum in_lanes(std::size_t lanes) {
  return [=](const Products& p) {
    Products sums(lanes, 0.0F);
    const std::size_t whole = p.size() / lanes * lanes;
    for (std::size_t i = 0; i < whole; ++i) sums[i % lanes] += p[i];
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    for (std::size_t i = whole; i < p.size(); ++i) sums[0] += p[i];
    return sums[0];
  };
}

TEST(Reveal, Sequential) {
  const SumTree tree = tree_of(600, in_order);
  EXPECT_EQ(name_of(tree), "one sum of 600 products, in order");
  expect_predicts(tree, 600, in_order);
}

TEST(Reveal, FromTheLastToTheFirst) {
  const Sum backwards = [](const Products& p) {
    return std::accumulate(p.rbegin(), p.rend(), 0.0F);
  };
  expect_predicts(tree_of(40, backwards), 40, backwards);
}

TEST(Reveal, PairsOddFirst) {
  const SumTree tree = tree_of(64, in_pairs);
  EXPECT_EQ(name_of(tree), "one sum of 64 products, in pairs, the odd one first");
  expect_predicts(tree, 64, in_pairs);
}

TEST(Reveal, Chunks) {
  const Sum sum = in_chunks(128, in_pairs);
  const SumTree tree = tree_of(320, sum);
  EXPECT_EQ(name_of(tree),
            "3 chunks of 128 (the last of 64), added in order; each: one sum of 128 products, in "
            "pairs, the odd one first");
  expect_predicts(tree, 320, sum);
}

TEST(Reveal, LanesFolded) {
  const SumTree tree = tree_of(256, in_lanes(8));
  EXPECT_EQ(name_of(tree),
            "8 lanes, added by halves (those 4, 2, 1 apart); each: one sum of 32 products of every "
            "8th, in order");
  expect_predicts(tree, 256, in_lanes(8));
}

TEST(Reveal, LanesAndATail) {
  const SumTree tree = tree_of(259, in_lanes(8));
  EXPECT_TRUE(name_of(tree).ends_with("; then 3 products one by one")) << name_of(tree);
  expect_predicts(tree, 259, in_lanes(8));
}

TEST(Reveal, SplitK) {
  const Sum sum = in_chunks(64, in_lanes(4));
  const SumTree tree = tree_of(256, sum);
  EXPECT_EQ(name_of(tree),
            "4 chunks of 64, added in order; each: 4 lanes, added by halves (those 2, 1 apart); "
            "each: one sum of 16 products of every 4th, in order");
  expect_predicts(tree, 256, sum);
}

TEST(Reveal, Pairwise) {
  const std::function<float(const Products&)> pairwise = [&](const Products& p) -> float {
    if (p.size() == 1) return p[0];
    const auto middle = p.begin() + static_cast<long>(p.size() / 2);
    return pairwise(Products(p.begin(), middle)) + pairwise(Products(middle, p.end()));
  };
  expect_predicts(tree_of(64, pairwise), 64, pairwise);
  expect_predicts(tree_of(37, pairwise), 37, pairwise);
}

// A matrix unit that adds four products and the sum so far at once, exactly, and then rounds.
TEST(Reveal, FusedSums) {
  const Sum fused = [](const Products& p) {
    float sum = 0;
    for (std::size_t i = 0; i < p.size(); i += 4) {
      const float parts[] = {sum, p[i], p[i + 1], p[i + 2], p[i + 3]};
      float most = 0;
      for (const float part : parts) most = std::max(most, std::fabs(part));
      double exact = 0;  // aligned to the largest, as hardware does: what is far below is cut
      for (const float part : parts)
        if (std::fabs(part) >= most * 0x1p-24F) exact += part;
      sum = static_cast<float>(exact);
    }
    return sum;
  };
  const SumTree tree = tree_of(16, fused);
  EXPECT_TRUE(has_fused(tree));
  ASSERT_EQ(tree.joins.size(), 4u);
  EXPECT_EQ(tree.joins[0].size(), 3u);  // the first product, with three others
  EXPECT_EQ(tree.joins[1].size(), 4u);
}

TEST(Reveal, OneProduct) {
  EXPECT_EQ(name_of(tree_of(1, in_order)), "one product");
}

TEST(Reveal, SaysWhenThereIsNoTree) {
  const CountReached none = [](std::uint64_t, std::uint64_t j,
                               std::span<const std::uint64_t> units) {
    return units.size() - (j % 2 == 0 ? 3 : 7);
  };
  EXPECT_THROW(reveal(50, none), Error);
}

TEST(Reveal, DrawsWhatItFound) {
  EXPECT_EQ(drawing_of(tree_of(8, in_chunks(4, in_order)), 10),
            "0 1 2 3\n"
            "+ the sum of\n"
            "  4 5 6 7\n");
  EXPECT_EQ(drawing_of(tree_of(100, in_order), 10), "0 1 2 3 4 5 … 99 (100 products)\n");
}

}  // namespace
}  // namespace tare::prove
