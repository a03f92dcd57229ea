// Multiply-adds as fast as registers allow, once for every instruction set. Included only by the
// files that instantiate it with an Isa of internal linkage (see panel.h). An Isa says: Vector,
// Factor, kMultiplyAdds (of one instruction), multiply_add(sum, a, b), factor(value),
// sum_of(value), lowest(vector).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::kernels {

// Accumulators enough to hide latency x throughput: 4 x 2 for a fused multiply-add, up to 12 for
// others. They start apart and the factors are hidden from the compiler, so that no chain can be
// shared or folded.
template <typename Isa, std::size_t Accumulators>
float run_peak(std::uint64_t multiply_adds) {
  constexpr std::uint64_t kTurn = Accumulators * Isa::kMultiplyAdds;
  typename Isa::Vector sum[Accumulators];
#pragma GCC unroll 32
  for (std::size_t i = 0; i < Accumulators; ++i) sum[i] = Isa::sum_of(static_cast<float>(i));
  const volatile float seed = 0.5F;
  const auto a = Isa::factor(seed);
  const auto b = Isa::factor(seed);
  for (std::uint64_t done = 0; done < multiply_adds; done += kTurn) {
#pragma GCC unroll 32
    for (std::size_t i = 0; i < Accumulators; ++i) sum[i] = Isa::multiply_add(sum[i], a, b);
  }
  float all = 0;
#pragma GCC unroll 32
  for (std::size_t i = 0; i < Accumulators; ++i) all += Isa::lowest(sum[i]);
  return all;
}

}  // namespace tare::kernels
