#include "prove/reveal.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "base/error.h"

namespace tare::prove {
namespace {

using Leaves = std::vector<std::uint64_t>;  // ascending

class Revealer {
 public:
  explicit Revealer(const CountReached& count) : count_(count) {}

  // The parts that the leaves form where they meet what `outside` stands for, a leaf that is not
  // among them: one, unless a fused sum takes several at once.
  std::vector<SumTree> parts_of(const Leaves& leaves, const std::uint64_t* outside) {
    const std::uint64_t first = leaves.front();
    SumTree tree{first, {}, 1};
    const std::map<std::uint64_t, Leaves> groups = group(leaves);
    for (const auto& [below, members] : groups) {
      const bool last = below == leaves.size();
      if (last && outside != nullptr && !reaches(first, members.front(), *outside)) {
        std::vector<SumTree> parts = parts_of(members, outside);
        parts.insert(parts.begin(), std::move(tree));
        return parts;
      }
      tree.leaves += members.size();
      if (tree.leaves != below)
        fail(Blame::kArm,
             "its sums fit no tree: {} products are lost between products {} and {}, where the "
             "order has room for {}",
             below, first, members.front(), tree.leaves);
      tree.joins.push_back(parts_of(members, &first));
    }
    return {std::move(tree)};
  }

 private:
  // The others by how many leaves are below their meeting with the first.
  std::map<std::uint64_t, Leaves> group(const Leaves& leaves) {
    std::map<std::uint64_t, Leaves> groups;
    for (std::size_t i = 1; i < leaves.size(); ++i)
      groups[below(leaves, leaves[0], leaves[i])].push_back(leaves[i]);
    return groups;
  }

  std::uint64_t below(const Leaves& leaves, std::uint64_t i, std::uint64_t j) {
    Leaves units;
    std::ranges::copy_if(leaves, std::back_inserter(units),
                         [&](std::uint64_t leaf) { return leaf != i && leaf != j; });
    const std::uint64_t reached = units.empty() ? 0 : count_(i, j, units);
    return leaves.size() - std::min<std::uint64_t>(reached, leaves.size());
  }

  bool reaches(std::uint64_t i, std::uint64_t j, std::uint64_t outside) {
    return count_(i, j, {&outside, 1}) != 0;
  }

  const CountReached& count_;
};

// ---- words

// The leaves that a tree adds one by one before anything else joins: an accumulator.
std::size_t chain_length(const SumTree& tree) {
  std::size_t length = 0;
  for (const auto& parts : tree.joins) {
    if (parts.size() != 1 || !parts[0].is_leaf()) break;
    ++length;
  }
  return length;
}

bool is_chain(const SumTree& tree) {
  return chain_length(tree) == tree.joins.size();
}

Leaves chain_of(const SumTree& tree) {
  Leaves chain{tree.first};
  for (std::size_t i = 0; i < chain_length(tree); ++i) chain.push_back(tree.joins[i][0].first);
  return chain;
}

// The first `joins` joins of a tree alone.
SumTree cut(const SumTree& tree, std::size_t joins) {
  SumTree part{tree.first, {tree.joins.begin(), tree.joins.begin() + static_cast<long>(joins)}, 1};
  for (const auto& parts : part.joins)
    for (const SumTree& one : parts) part.leaves += one.leaves;
  return part;
}

bool ascending(const Leaves& chain) {
  return std::ranges::is_sorted(chain);
}

// Pairs of neighbours, the odd one first: what a bf16 dot-product instruction does. The first two
// have no order.
bool odd_first(const Leaves& chain) {
  for (std::size_t i = 2; i + 1 < chain.size(); i += 2)
    if (chain[i] != chain[i + 1] + 1) return false;
  return chain.size() > 3 && chain[1] == chain[0] + 1;
}

// Neighbours that a chain takes before it jumps, and how far it jumps; 0: it does not jump.
struct Stride {
  std::uint64_t run = 1;
  std::uint64_t step = 0;
  bool operator==(const Stride&) const = default;
};

Stride stride_of(Leaves chain) {
  std::ranges::sort(chain);
  Stride stride;
  while (stride.run < chain.size() && chain[stride.run] == chain[0] + stride.run) ++stride.run;
  if (stride.run < chain.size()) stride.step = chain[stride.run] - chain[0];
  return stride;
}

std::string order_text(const Leaves& chain) {
  if (ascending(chain)) return "in order";
  if (odd_first(chain)) return "in pairs, the odd one first";
  Leaves turned(chain.rbegin(), chain.rend());
  return ascending(turned) ? "from the last to the first" : "in an order of its own";
}

std::string chain_text(const SumTree& tree) {
  const Leaves chain = chain_of(tree);
  if (chain.size() == 1) return "one product";
  const Stride stride = stride_of(chain);
  const std::string every =
      stride.step == 0  ? ""
      : stride.run == 1 ? fmt::format(" of every {}th", stride.step)
                        : fmt::format(" of {} neighbours in every {}", stride.run, stride.step);
  return fmt::format("one sum of {} products{}, {}", chain.size(), every, order_text(chain));
}

// The chains of a tree as leaves of a tree of their own, numbered by their first products.
class Skeleton {
 public:
  explicit Skeleton(const SumTree& tree) {
    collect(tree);
    std::ranges::sort(chains_, {}, &SumTree::first);
    tree_ = rebuild(tree);
  }
  const SumTree& tree() const { return tree_; }
  const std::vector<SumTree>& chains() const { return chains_; }

 private:
  void collect(const SumTree& tree) {
    const std::size_t length = chain_length(tree);
    chains_.push_back(cut(tree, length));
    for (std::size_t i = length; i < tree.joins.size(); ++i)
      for (const SumTree& part : tree.joins[i]) collect(part);
  }
  SumTree rebuild(const SumTree& tree) const {
    const auto at = std::ranges::lower_bound(chains_, tree.first, {}, &SumTree::first);
    SumTree made{static_cast<std::uint64_t>(at - chains_.begin()), {}, 1};
    for (std::size_t i = chain_length(tree); i < tree.joins.size(); ++i) {
      std::vector<SumTree> parts;
      for (const SumTree& part : tree.joins[i]) {
        parts.push_back(rebuild(part));
        made.leaves += parts.back().leaves;
      }
      made.joins.push_back(std::move(parts));
    }
    return made;
  }

  std::vector<SumTree> chains_;
  SumTree tree_;
};

bool is_binary(const SumTree& tree) {
  return std::ranges::all_of(
      tree.joins, [](const auto& parts) { return parts.size() == 1 && is_binary(parts[0]); });
}

// Whether each join doubles the sum, by parts that are built alike.
bool is_balanced(const SumTree& tree) {
  std::uint64_t size = 1;
  for (const auto& parts : tree.joins) {
    if (parts.size() != 1 || parts[0].leaves != size || !is_balanced(parts[0])) return false;
    size *= 2;
  }
  return true;
}

// "1, 2, 4": how far apart the parts of each level begin.
std::string distances(const SumTree& balanced) {
  std::vector<std::uint64_t> apart;
  for (const auto& parts : balanced.joins) apart.push_back(parts[0].first - balanced.first);
  return fmt::format("{}", fmt::join(apart, ", "));
}

std::string skeleton_text(const SumTree& tree) {
  if (is_chain(tree)) return order_text(chain_of(tree));
  if (is_balanced(tree)) return fmt::format("by halves (those {} apart)", distances(tree));
  return "as a tree of its own";
}

bool alike(const std::vector<SumTree>& chains) {
  return std::ranges::all_of(chains, [&](const SumTree& chain) {
    return chain.leaves == chains[0].leaves &&
           stride_of(chain_of(chain)) == stride_of(chain_of(chains[0]));
  });
}

std::string describe(const SumTree& tree);

// After `joins` joins, parts follow that are each as large as what is there by then, or the rest.
bool repeats_after(const SumTree& tree, std::size_t joins) {
  const std::uint64_t size = cut(tree, joins).leaves;
  if (size < 2 || joins == tree.joins.size()) return false;
  for (std::size_t i = joins; i < tree.joins.size(); ++i) {
    const bool last = i + 1 == tree.joins.size();
    const std::vector<SumTree>& parts = tree.joins[i];
    if (parts.size() != 1) return false;
    const bool in_line = parts[0].first == tree.first + size * (i - joins + 1);
    if (!in_line || !(parts[0].leaves == size || (last && parts[0].leaves < size))) return false;
  }
  return true;
}

// Leaves that join one by one when all else is summed.
std::size_t tail_length(const SumTree& tree) {
  std::size_t length = 0;
  while (length < tree.joins.size()) {
    const auto& parts = tree.joins[tree.joins.size() - 1 - length];
    if (parts.size() != 1 || !parts[0].is_leaf()) break;
    ++length;
  }
  return length;
}

std::string describe(const SumTree& tree) {
  if (is_chain(tree)) return chain_text(tree);
  if (const std::size_t tail = tail_length(tree); tail > 0)
    return fmt::format("{}; then {} products one by one",
                       describe(cut(tree, tree.joins.size() - tail)), tail);
  for (std::size_t joins = chain_length(tree); joins < tree.joins.size(); ++joins)
    if (repeats_after(tree, joins)) {
      const SumTree part = cut(tree, joins);
      const SumTree& last = tree.joins.back()[0];
      const std::string rest =
          last.leaves == part.leaves ? "" : fmt::format(" (the last of {})", last.leaves);
      return fmt::format("{} chunks of {}{}, added in order; each: {}",
                         tree.joins.size() - joins + 1, part.leaves, rest, describe(part));
    }
  const Skeleton skeleton(tree);
  const bool lanes = alike(skeleton.chains());
  const std::string sums = fmt::format("{} {}", skeleton.chains().size(), lanes ? "lanes" : "sums");
  if (!is_binary(skeleton.tree()))
    return fmt::format("{}, some added at once; the first: {}", sums,
                       chain_text(skeleton.chains()[0]));
  return fmt::format("{}, added {}; {}: {}", sums, skeleton_text(skeleton.tree()),
                     lanes ? "each" : "the first", chain_text(skeleton.chains()[0]));
}

// ---- drawing

std::string list_text(const Leaves& leaves) {
  constexpr std::size_t kShown = 6;
  const std::size_t shown = leaves.size() <= kShown + 2 ? leaves.size() : kShown;
  std::string text = fmt::format("{}", fmt::join(std::span(leaves).first(shown), " "));
  if (shown < leaves.size())
    text += fmt::format(" … {} ({} products)", leaves.back(), leaves.size());
  return text;
}

class Drawing {
 public:
  explicit Drawing(std::size_t most_lines) : most_(most_lines) {}

  void add(const SumTree& tree, std::size_t depth) {
    line(depth, list_text(chain_of(tree)));
    for (std::size_t i = chain_length(tree); i < tree.joins.size(); ++i)
      add_parts(tree.joins[i], depth);
  }

  std::string text() const {
    return left_out_ == 0 ? text_ : text_ + fmt::format("… and {} sums more\n", left_out_);
  }

 private:
  void add_parts(const std::vector<SumTree>& parts, std::size_t depth) {
    for (const SumTree& part : parts) {
      if (part.is_leaf()) {
        line(depth, fmt::format("+ {}", part.first));
      } else {
        line(depth, parts.size() > 1 ? "+ at once, the sum of" : "+ the sum of");
        add(part, depth + 1);
      }
    }
  }

  void line(std::size_t depth, const std::string& text) {
    if (lines_ == most_) {
      ++left_out_;
      return;
    }
    ++lines_;
    text_ += std::string(2 * depth, ' ') + text + '\n';
  }

  std::size_t most_;
  std::size_t lines_ = 0;
  std::size_t left_out_ = 0;
  std::string text_;
};

}  // namespace

SumTree reveal(std::uint64_t k, const CountReached& count) {
  if (k == 0) fail(Blame::kInput, "there is no order in a sum of no products");
  Leaves all(k);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return std::move(Revealer(count).parts_of(all, nullptr).front());
}

float sum_in_order(const SumTree& tree, std::span<const float> x, std::span<const float> weights) {
  float sum = x[tree.first] * weights[tree.first];
  for (const auto& parts : tree.joins)
    for (const SumTree& part : parts)
      sum = part.is_leaf() ? std::fma(x[part.first], weights[part.first], sum)
                           : sum + sum_in_order(part, x, weights);
  return sum;
}

bool has_fused(const SumTree& tree) {
  return !is_binary(tree);
}

std::string name_of(const SumTree& tree) {
  return describe(tree);
}

std::string drawing_of(const SumTree& tree, std::size_t most_lines) {
  Drawing drawing(most_lines);
  drawing.add(tree, 0);
  return drawing.text();
}

}  // namespace tare::prove
