// Identical arms: one kernel, at one code address, on several sets of buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/huge_arena.h"
#include "kernels/panel_projection.h"
#include "kernels/thread_pool.h"

namespace tare::bench {

struct ArmsShape {
  std::uint64_t k = 0, n = 0;
  std::uint32_t threads = 1;
  std::uint64_t ring_bytes = 0;  // of one buffer set; 0: one copy of the weights, which stays hot
};

// bf16 GEMV, one row. What differs between buffer sets is where packed weights, x and y lie, on
// huge pages where there are any. Not thread safe. The constructor throws tare::Error
// (Blame::kMachine) when memory runs out.
class Arms {
 public:
  Arms(const ArmsShape& shape, std::uint32_t buffer_sets, std::uint64_t seed);

  std::uint32_t buffer_sets() const { return static_cast<std::uint32_t>(sets_.size()); }
  std::uint32_t slots() const { return slots_; }
  const char* kernel() const { return path_.isa; }

  // One dispatch on the next slot of this set's ring; returns when y is written.
  void dispatch(std::uint32_t buffer_set);
  // The same on the slot of the last dispatch: an untimed opening for hot weights.
  void dispatch_again(std::uint32_t buffer_set);

 private:
  struct BufferSet {
    std::unique_ptr<kernels::PanelProjection> projection;
    kernels::Bf16* x = nullptr;
    kernels::Bf16* y = nullptr;
    std::uint32_t slot = 0;
  };
  void run(BufferSet& set) { set.projection->run(set.slot, set.x, set.y); }

  device::HugeArena arena_;
  kernels::ThreadPool pool_;
  const kernels::PanelPath& path_;
  std::uint32_t slots_ = 1;
  std::vector<BufferSet> sets_;
};

}  // namespace tare::bench
