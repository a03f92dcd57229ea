// The samples of one placement arranged by block, so that arms can be compared within a block.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "weigh/weighing.h"

namespace tare::judge {

// One arm's region times. Element i of every outer vector belongs to the i-th complete block; NaN
// where that block has no such region.
struct ArmTimes {
  std::uint64_t round_dispatches = 0;
  std::uint64_t long_dispatches = 0;               // 0: it has none
  std::uint64_t half_ring_dispatches = 0;          // 0: it has none
  std::uint64_t slice_dispatches = 0;              // of kSliceMany and kSliceTwice; 0: it has none
  std::vector<std::vector<double>> round_seconds;  // by round; several of one round as their mean
  std::vector<double> long_seconds;
  std::vector<double> half_ring_seconds;
  std::vector<double> slice_one_seconds;  // mean of the block's
  std::vector<double> slice_many_seconds;
  std::vector<double> slice_twice_seconds;

  // Long regions and rounds differ enough to tell an overhead per region from a time per dispatch.
  bool two_lengths() const {
    return round_dispatches > 0 && long_dispatches >= 2 * round_dispatches;
  }
};

struct Blocks {
  std::vector<std::uint32_t> numbers;  // of the complete blocks, ascending
  std::map<weigh::Role, ArmTimes> arms;
  // Regions in complete blocks that are as long as the traffic asked for, by arm (rounds, where no
  // region is longer): what a gate takes medians of.
  std::map<weigh::Role, std::vector<const weigh::Region*>> long_regions;

  std::size_t count() const { return numbers.size(); }
};

// A block is complete when every one of incumbent, control and candidate that was prepared has as
// many rounds as any of them, with times that are finite and above zero. Others are dropped for all
// arms alike: dropping one arm's bad sample but not its partner's is a bias (a block that a failure
// cut short, a clock that stepped back). All regions of an arm and purpose have one length; where a
// file says otherwise the most frequent wins. The result points into `weighing`.
Blocks arrange(const weigh::Weighing& weighing);

}  // namespace tare::judge
