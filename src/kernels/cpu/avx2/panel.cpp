// The panel kernel on AVX2 and FMA: as on AVX-512F, with tiles for sixteen registers of eight
// lanes.
#include "kernels/cpu/panel.h"
#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const PanelPath kAvx2Panel{
    .name = "avx2",
    .isa = "AVX2 FMA",
    .tile = "3x32 or 6x16 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &scratch_bytes<Avx2>,
    .run = &run_panels<Avx2>,
};

}  // namespace tare::kernels
