// In which order an implementation adds, found by what it returns alone.
//
// The method is FPRev's (Xie, Gao, Wang, Xue: "FPRev: Revealing Floating-Point Accumulation Orders
// in Software/Hardware Implementations"): of products that are all small and equal but for a huge
// one at i and its negative at j, the small ones that are added into either before the two meet are
// lost, so the result counts those that are not below the lowest common ancestor of i and j.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tare::prove {

// A tree of additions, as the way from its lowest-numbered product up to its root: at each join the
// sum so far is added to one part, or to several at once (a fused sum of more than two).
struct SumTree {
  std::uint64_t first = 0;  // the product it begins with
  std::vector<std::vector<SumTree>> joins;
  std::uint64_t leaves = 1;

  bool is_leaf() const { return joins.empty(); }
};

// Of the products of `units`, all equal, how many reach the result when product i is huge and
// product j its negative; all other products are 0. `units` holds neither i nor j.
using CountReached = std::function<std::uint64_t(std::uint64_t i, std::uint64_t j,
                                                 std::span<const std::uint64_t> units)>;

// The tree of k products. Throws tare::Error (kArm) where the answers fit no tree. Takes some k
// calls, and more the more the tree branches.
SumTree reveal(std::uint64_t k, const CountReached& count);

// The f32 sum of the products of two rows in the order of the tree: each addition is rounded to
// nearest even, and a product that joins a sum is not before (it is exact where both factors have
// 12 bits at most; else the addition is a fused one). The parts of a sum of more than two are added
// in turn.
float sum_in_order(const SumTree& tree, std::span<const float> x, std::span<const float> weights);
// Whether it has sums of more than two, whose rounding the order alone does not tell.
bool has_fused(const SumTree& tree);

// What it is, in words: "one sum, in order"; "2 chunks of 512, added in order; each: ...".
std::string name_of(const SumTree& tree);

// The tree, one line a sum, what repeats left out; at most so many lines.
std::string drawing_of(const SumTree& tree, std::size_t most_lines);

}  // namespace tare::prove
