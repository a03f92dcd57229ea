// How a thread block's part of a projection passes through its shared memory: stage after stage of
// weights and of x, as many of them in flight as fit. Pure arithmetic, so that it is built and
// tested where there is no GPU.
#pragma once

#include <cstdint>

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kBoxDepth = 64;         // k of a box of x: 128 bytes of a row
inline constexpr std::uint32_t kMostQueueStages = 32;  // two barriers of 8 bytes each
inline constexpr std::uint32_t kMostQueueRows = 32;
inline constexpr std::uint32_t kMostClusterBlocks = 8;  // that every GPU of 9.0 and later takes

// What a kernel's plan asks of it.
struct QueueShape {
  std::uint64_t stages = 0;       // of a thread block, over all its k
  std::uint64_t stage_bytes = 0;  // weights of one; a multiple of 16
  std::uint32_t depth = 0;        // k of one's x; a multiple of kBoxDepth; 0: x is held as a whole
  std::uint64_t held_depth = 0;   // k of x that is held as a whole, or 0
  std::uint64_t width = 0;        // outputs of a thread block
  std::uint32_t pieces = 1;       // along k whose sums a thread block adds up
  std::uint32_t splits = 1;       // thread blocks along k: a cluster
  std::uint32_t blocks_at_once = 1;  // that a multiprocessor is to hold
  bool direct = false;               // sums are sent from registers
};

// Byte offsets in shared memory: barriers; the queue, and in its place, when it has run dry,
// partial sums; then what other thread blocks of the cluster send, which may be while ours still
// runs; then x where it is held.
struct QueueLayout {
  std::uint32_t stages = 0;       // in flight; fewer than two: the queue does not fit
  std::uint32_t stage_pitch = 0;  // from stage to stage: weights, then boxes of x
  std::uint32_t inputs = 0;       // of a stage
  std::uint32_t box_pitch = 0;
  std::uint32_t partials = 0;       // also the first stage
  std::uint32_t partial_pitch = 0;  // floats from row to row
  std::uint32_t inbox = 0;
  std::uint32_t held = 0;
  std::uint32_t bytes = 0;
};
QueueLayout queue_layout(const QueueShape& shape, std::uint32_t rows);

// When the next dispatch's thread blocks may start, in eighths of the stages that each of ours asks
// for; 0: at once. Early ones fetch in our time what they have room for, and late ones in our tail:
// what is best lies between (docs/kernels/cuda-plans.md).
inline constexpr std::uint32_t kEighths = 8;
// The same in stages: 0 stays 0, and anything else is at least one.
constexpr std::uint32_t asked_stages(std::uint64_t stages, std::uint32_t eighths) {
  return static_cast<std::uint32_t>((stages * eighths + kEighths - 1) / kEighths);
}

#ifdef __CUDACC__
#define TARE_ALSO_ON_DEVICE __host__ __device__
#else
#define TARE_ALSO_ON_DEVICE
#endif

// How packed weights lie: [stage][column][part of k][strip of the column][the strip's bytes of that
// stage]. A stage of all columns is what the whole GPU reads at a time, and thread blocks of a
// cluster read what lies side by side (docs/kernels/cuda-plans.md has what other orders cost).
// A strip is what a kernel takes for one; a column so many of them that lie together.
struct QueueOrder {
  std::uint32_t columns = 0, parts = 0, strips = 0;

  // In strips from the beginning. `strip`: of all columns; `stage`: of the part.
  TARE_ALSO_ON_DEVICE constexpr std::uint64_t place_of(std::uint32_t stage, std::uint32_t part,
                                                       std::uint32_t strip) const {
    const std::uint64_t column = std::uint64_t{stage} * columns + strip / strips;
    return (column * parts + part) * strips + strip % strips;
  }

  struct Strip {
    std::uint64_t stage, part, strip;
  };
  TARE_ALSO_ON_DEVICE constexpr Strip strip_at(std::uint64_t place) const {
    const std::uint64_t chunk = place / strips, column = chunk / parts;
    return {column / columns, chunk % parts, column % columns * strips + place % strips};
  }
};

}  // namespace tare::kernels::cuda
