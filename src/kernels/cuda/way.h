// How a dispatch of our kernels is launched.
#pragma once

#include "kernels/cuda/target.h"

namespace tare::kernels::cuda {

struct Way {
  bool programmatic = false;  // may be placed before the kernel in front has ended
  Target target = nullptr;    // the default stream
};

}  // namespace tare::kernels::cuda
