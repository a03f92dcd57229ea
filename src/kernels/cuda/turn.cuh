// Places that are taken in turns, again and again, each with a barrier that says when it may be.
#pragma once

#include <cstdint>

namespace tare::kernels::cuda {

struct Turn {
  std::uint32_t place = 0;
  std::uint32_t parity = 0;  // of the barrier's phase that this time round ends

  __device__ void next(std::uint32_t places) {
    if (++place < places) return;
    place = 0;
    parity ^= 1;
  }
};

}  // namespace tare::kernels::cuda
