// The panel kernel on vdpbf16ps: one instruction a pair, which flushes subnormals and rounds by
// itself.
#include "kernels/cpu/panel.h"
#include "kernels/cpu/avx512bf16/isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const PanelPath kAvx512Bf16Panel{
    .name = "avx512bf16",
    .isa = "AVX-512 BF16",
    .tile = "12x32 f32 by vdpbf16ps",
    .scratch_bytes = &scratch_bytes<Avx512Bf16>,
    .run = &run_panels<Avx512Bf16>,
};

}  // namespace tare::kernels
