// How the relay kernel (relay.h) deals the projections of a chain to thread blocks. Pure
// arithmetic, so that it is built and tested where there is no GPU.
//
// k of a projection falls into stages of 128, of which each of its `parts` has a contiguous share;
// outputs into strips of 64. A unit is a strip's part. Units of all projections are dealt to thread
// blocks in one round, so that whoever has little of one has more of the next.
//
// The weights of a projection lie in the order in which the whole GPU reads them: [turn][stage of
// the unit][unit of the turn][16 KiB], a turn being kRelayBlocks units; where parts are uneven, all
// have the longest one's place. A stage is [half of its k][16 outputs][32 k][output / 8][lane][16
// bytes], a lane's 16 bytes 8 consecutive k of output lane / 4, as the slab kernel has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kRelayOutputs = 64;  // of a strip
inline constexpr std::uint32_t kRelayDepth = 128;   // k of a stage
inline constexpr std::uint32_t kRelayStageBytes = 2 * kRelayOutputs * kRelayDepth;
inline constexpr std::uint32_t kMostRelayRows = 8;
inline constexpr std::uint32_t kMostRelaySteps = 256;
// An H200's multiprocessors. Constant, so that bits do not depend on the GPU; it runs with others.
inline constexpr std::uint32_t kRelayBlocks = 132;

#ifdef __CUDACC__
#define TARE_RELAY_ALSO_ON_DEVICE __host__ __device__
#else
#define TARE_RELAY_ALSO_ON_DEVICE
#endif

// One projection of a chain. The order of every sum is a function of k and parts: the halves of all
// stages of a part ascending, each half's sum for itself; the two halves; then parts, ascending.
struct RelayStep {
  std::uint32_t k = 0, n = 0;  // multiples of 128 and of 64
  std::uint32_t parts = 1;

  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t strips() const { return n / kRelayOutputs; }
  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t stages() const { return k / kRelayDepth; }
  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t units() const { return strips() * parts; }
  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t first_stage(std::uint32_t part) const {
    return part * stages() / parts;
  }
  // Of the longest part.
  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t longest() const {
    return (stages() + parts - 1) / parts;
  }
  // Where a unit's first stage lies, and how far the next one is, in stages.
  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t place_of(std::uint32_t unit) const {
    return unit / kRelayBlocks * kRelayBlocks * longest() + unit % kRelayBlocks;
  }
  TARE_RELAY_ALSO_ON_DEVICE constexpr std::uint32_t pitch_of(std::uint32_t unit) const {
    const std::uint32_t first = unit / kRelayBlocks * kRelayBlocks;
    return units() - first < kRelayBlocks ? units() - first : kRelayBlocks;
  }
  constexpr std::uint64_t weight_bytes() const {
    return std::uint64_t{units()} * longest() * kRelayStageBytes;
  }
  friend bool operator==(const RelayStep&, const RelayStep&) = default;
};

struct RelayShape {
  std::uint64_t k, n;
};
// Parts for a chain in which each projection reads the first k outputs of the one before. Throws
// tare::Error (kInput) where it is no such chain, is too long, or a k or n is no multiple of 128 or
// of 64.
std::vector<RelayStep> relay_steps(std::span<const RelayShape> chain);

// Byte offsets in shared memory: barriers, the queue's stages, x of a part, a piece's sums (twice),
// the steps.
struct RelayLayout {
  std::uint32_t stages = 0;  // in flight
  std::uint32_t queue = 0, inputs = 0, sums = 0, steps = 0, bytes = 0;
  std::uint32_t input_pitch = 0;  // bytes from row to row: 64 past a multiple of 128, no conflicts
};
RelayLayout relay_layout(std::span<const RelayStep> steps, std::uint32_t rows);

}  // namespace tare::kernels::cuda
