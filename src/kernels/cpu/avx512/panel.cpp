// The panel kernel on AVX-512F: a pair is two fused multiply-adds in f32, the odd element first.
// The same bits as vdpbf16ps, and on processors that run that instruction at half the pace of their
// two multiply-add ports, faster.
#include "kernels/cpu/panel.h"
#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const PanelPath kAvx512Panel{
    .name = "avx512",
    .isa = "AVX-512",
    .tile = "12x32 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &scratch_bytes<Avx512>,
    .run = &run_panels<Avx512>,
};

}  // namespace tare::kernels
