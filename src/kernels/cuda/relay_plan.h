// How the relay kernel (relay.h) deals a chain of projections to the multiprocessors. Pure
// arithmetic, so that it is built and tested where there is no GPU.
//
// Outputs fall into strips of `width`, and a strip's weights into stages of kRelayStageBytes along
// k, which the warps of a thread block take in turns. A thread block has whole strips
// of every projection, as even as they fall; what is uneven evens out over a layer, and the next
// layer's thread blocks change places.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kRelayStageBytes = 2048;    // of weights
inline constexpr std::uint32_t kRelaySums = 4;             // strips whose sums are on their way
inline constexpr std::uint32_t kMostRelayProjections = 8;  // of a layer

// How a thread block is made up, by the width of strips.
struct RelayForm {
  std::uint32_t width = 0;        // outputs of a strip
  std::uint32_t warps = 0;        // that multiply
  std::uint32_t stages = 0;       // in shared memory, of each of them
  std::uint32_t ahead = 0;        // stages that each has in registers while it waits for x; with
                                  // one more, registers spill
  std::uint32_t input_bytes = 0;  // of x, that a warp has room for

  constexpr std::uint32_t depth() const { return kRelayStageBytes / 2 / width; }  // k of a stage
};
inline constexpr RelayForm kWideRelay{16, 12, 8, 3, 2048};
inline constexpr RelayForm kNarrowRelay{8, 16, 6, 2, 1536};

struct RelayShape {
  std::uint64_t k = 0, n = 0;
};

struct RelayProjection {
  std::uint32_t k = 0, n = 0;
  std::uint32_t strips = 0, stages = 0;  // stages: of a strip
  std::uint64_t place = 0;               // of its packed weights in those of the layer, bytes

  std::uint64_t weight_bytes() const { return std::uint64_t{strips} * stages * kRelayStageBytes; }
};

// The order of every sum is a function of k and the form: a warp adds stage after stage, and the
// warps' sums are added in their order. Neither the deal nor the number of thread blocks enters.
struct RelayPlan {
  std::vector<RelayProjection> projections;  // of a layer, each reading the one before
  std::uint32_t layers = 0;
  RelayForm form;            // kWideRelay or kNarrowRelay
  std::uint32_t blocks = 0;  // thread blocks, one a multiprocessor
  // [projection][blocks + 1]: the first strip of each thread block's share.
  std::vector<std::uint16_t> deal;

  std::uint64_t layer_bytes() const;  // of packed weights
  std::uint64_t weight_bytes() const { return layers * layer_bytes(); }
  std::uint32_t steps() const { return layers * static_cast<std::uint32_t>(projections.size()); }
  // Values from one projection's outputs to the next one's.
  std::uint64_t pitch() const;
  // Strips of thread block `rank`.
  std::uint32_t share(std::size_t projection, std::uint32_t rank) const;
};

// A chain of `layers` times `layer`, on `multiprocessors`: a projection's x is the first k outputs
// of the one before it, of a layer's first projection those of the layer before. None where the
// kernel cannot run it: a k that is no multiple of a stage's (128, or 64 where the least k of the
// layer is below 3072) or more than 12288, an n that is no multiple of 16 or has more than 65535
// strips, a k above the n before it, no projection or more than kMostRelayProjections.
std::optional<RelayPlan> plan_relay(std::span<const RelayShape> layer, std::uint32_t layers,
                                    std::uint32_t multiprocessors);

// Byte offsets in a thread block's shared memory: stages, x, sums, barriers (a full and an empty
// one a stage, one a strip's sums), the deal. Constants, since each is added on somebody's way from
// x to sums.
struct RelayLayout {
  std::uint32_t inputs, sums, barriers, deal;

  constexpr explicit RelayLayout(const RelayForm& form)
      : inputs(form.warps * form.stages * kRelayStageBytes),
        sums(inputs + form.warps * form.input_bytes),
        barriers(sums + kRelaySums * form.warps * 16 * 4),
        deal(barriers + 8 * (2 * form.warps * form.stages + kRelaySums)) {}
};
std::uint32_t relay_shared_bytes(const RelayPlan& plan);

}  // namespace tare::kernels::cuda
