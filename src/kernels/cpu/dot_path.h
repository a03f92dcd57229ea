// Where the dot kernel is built (dot.h).
#pragma once

#include "kernels/dot.h"

namespace tare::kernels {

void run_dots_avx512bf16(const DotTask& task);

}  // namespace tare::kernels
