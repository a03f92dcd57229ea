#include "prove/reveal_blocks.h"

#include <algorithm>

namespace tare::prove {
namespace {

class BlockRevealer {
 public:
  BlockRevealer(std::uint64_t blocks, std::uint64_t block, const CountReached& count)
      : blocks_(blocks), block_(block), count_(count) {}

  // Blocks are added in the same order in every lane: the first's is asked.
  SumTree of_blocks() const {
    return reveal(blocks_, [&](std::uint64_t i, std::uint64_t j, auto units) {
      std::vector<std::uint64_t> elements;
      for (const std::uint64_t unit : units) elements.push_back(unit * block_);
      return count_(i * block_, j * block_, elements);
    });
  }

  std::vector<std::vector<std::uint64_t>> lanes() const {
    std::vector<std::vector<std::uint64_t>> lanes;
    for (std::uint64_t place = 0; place < block_; ++place) {
      const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const auto& one) {
        return blocks_ < 3 || share_a_lane(one.front(), place);
      });
      if (lane == lanes.end())
        lanes.push_back({place});
      else
        lane->push_back(place);
    }
    return lanes;
  }

  // Lanes meet when all blocks are in: the first block holds both huge ones, the second what they
  // swallow.
  SumTree of_lanes(const std::vector<std::vector<std::uint64_t>>& lanes) const {
    return reveal(lanes.size(), [&](std::uint64_t i, std::uint64_t j, auto units) {
      std::vector<std::uint64_t> elements;
      for (const std::uint64_t unit : units) elements.push_back(block_ + lanes[unit].front());
      return count_(lanes[i].front(), lanes[j].front(), elements);
    });
  }

 private:
  // Of one lane, block 0 and block 1 meet before the last block is added: it reaches the result.
  bool share_a_lane(std::uint64_t place, std::uint64_t other) const {
    std::vector<std::uint64_t> later;
    for (std::uint64_t at = 2; at < blocks_; ++at) later.push_back(at * block_ + place);
    return count_(place, block_ + other, later) != 0;
  }

  std::uint64_t blocks_, block_;
  const CountReached& count_;
};

SumTree numbered(const SumTree& tree, std::uint64_t factor, std::uint64_t offset) {
  SumTree made{tree.first * factor + offset, {}, tree.leaves};
  for (const auto& parts : tree.joins) {
    made.joins.emplace_back();
    for (const SumTree& part : parts) made.joins.back().push_back(numbered(part, factor, offset));
  }
  return made;
}

// Every leaf of `lanes` stands for a sum of blocks.
SumTree composed(const SumTree& lanes, const SumTree& blocks, std::uint64_t count) {
  SumTree made = numbered(blocks, count, lanes.first);
  for (const auto& parts : lanes.joins) {
    made.joins.emplace_back();
    for (const SumTree& part : parts) {
      made.joins.back().push_back(composed(part, blocks, count));
      made.leaves += made.joins.back().back().leaves;
    }
  }
  return made;
}

}  // namespace

BlockOrder reveal_blocks(std::uint64_t blocks, std::uint64_t block, const CountReached& count) {
  const BlockRevealer revealer(blocks, block, count);
  BlockOrder order{revealer.lanes(), {}};
  order.tree = composed(revealer.of_lanes(order.lanes), revealer.of_blocks(), order.lanes.size());
  return order;
}

}  // namespace tare::prove
