// The panel kernel of f16 and f32 weights for this instruction set.
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/avx512/float_isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const PanelPath kAvx512F16Panel{
    .name = "avx512",
    .isa = "AVX-512",
    .tile = "12x32 f32 by fused multiply-adds",
    .scratch_bytes = &scratch_bytes_in_order<Avx512Float<std::uint16_t>>,
    .run = &run_float_panels<Avx512Float<std::uint16_t>>,
};

const PanelPath kAvx512F32Panel{
    .name = "avx512",
    .isa = "AVX-512",
    .tile = "12x32 f32 by fused multiply-adds",
    .scratch_bytes = &scratch_bytes_in_order<Avx512Float<float>>,
    .run = &run_float_panels<Avx512Float<float>>,
};

}  // namespace tare::kernels
