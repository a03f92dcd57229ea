// What this processor and its operating system run. Apart from the rest, so that it is compiled for
// any processor.
#pragma once

#include "kernels/cpu/prefetch.h"

namespace tare::kernels {

bool has_avx2();    // with FMA and F16C
bool has_avx512();  // F, BW, DQ, VL
bool has_avx512_bf16();
bool has_avx512_vbmi();
bool has_avx512_vnni();
bool has_avx_vnni();  // 256 bits, with or without AVX-512
bool has_amx_bf16();  // and the operating system lends this process the tiles, once asked here
bool has_amx_int8();  // likewise
bool has_any();       // for kernels in plain C++: true

// Where weights, which are read once a dispatch, are best prefetched to. Past the caches is 1 to 4
// % faster on Zen 5, and half as fast as into them on Intel's servers (docs/kernels/panel.md).
Keep best_keep();

}  // namespace tare::kernels
