// The panel kernel of f16 and f32 weights for this instruction set.
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/avx2/float_isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const PanelPath kAvx2F16Panel{
    .name = "avx2",
    .isa = "AVX2 FMA",
    .tile = "2x32 or 6x16 f32 by fused multiply-adds",
    .scratch_bytes = &scratch_bytes_in_order<Avx2Float<std::uint16_t>>,
    .run = &run_float_panels<Avx2Float<std::uint16_t>>,
};

const PanelPath kAvx2F32Panel{
    .name = "avx2",
    .isa = "AVX2 FMA",
    .tile = "2x32 or 6x16 f32 by fused multiply-adds",
    .scratch_bytes = &scratch_bytes_in_order<Avx2Float<float>>,
    .run = &run_float_panels<Avx2Float<float>>,
};

}  // namespace tare::kernels
