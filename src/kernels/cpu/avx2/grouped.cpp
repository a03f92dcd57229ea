// The grouped kernel on AVX2 and FMA.
#include "kernels/cpu/grouped.h"
#include "kernels/cpu/avx2/expand.h"
#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const GroupedPath kAvx2Grouped{
    .name = "avx2",
    .isa = "AVX2 FMA",
    .tile = "6x16 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &GroupedScratch<GroupedIsa<Avx2>>::bytes,
    .run = &run_grouped<GroupedIsa<Avx2>, ExpandAvx2>,
};

}  // namespace tare::kernels
