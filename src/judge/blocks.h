// The samples of a weighing arranged by block, so that arms can be compared within a block.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "weigh/weighing.h"

namespace tare::judge {

// One arm's region times. Element i of every vector belongs to the i-th complete block; NaN where
// that block has no such region. Several regions of one length in a block count as their mean.
struct ArmTimes {
  std::uint64_t long_dispatches = 0;   // of its longest regions
  std::uint64_t short_dispatches = 0;  // of its shortest; 0 when there is one length only
  std::vector<double> long_seconds;
  std::vector<double> short_seconds;
  std::vector<double>
      half_ring_seconds;  // regions of the long length that rotate through half the ring

  // Long and short regions differ enough to tell an overhead per region from a time per dispatch.
  bool two_lengths() const {
    return short_dispatches > 0 && long_dispatches >= 2 * short_dispatches;
  }
};

struct Blocks {
  std::vector<std::uint32_t> numbers;  // of the complete blocks, ascending
  std::map<weigh::Role, ArmTimes> arms;
  // Long regions of full rings in complete blocks, by arm: what a gate takes medians of.
  std::map<weigh::Role, std::vector<const weigh::Region*>> long_regions;

  std::size_t count() const { return numbers.size(); }
};

// A block is complete when every one of incumbent, control and candidate that was prepared has all
// its lengths there, with times that are finite and above zero. Others are dropped for all arms
// alike: dropping one arm's bad sample but not its partner's is a bias (a block that a failure cut
// short, a clock that stepped back). The result points into `weighing`.
Blocks arrange(const weigh::Weighing& weighing);

}  // namespace tare::judge
