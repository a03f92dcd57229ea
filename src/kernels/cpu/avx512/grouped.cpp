// The grouped kernel on AVX-512F.
#include "kernels/cpu/grouped.h"
#include "kernels/cpu/avx512/expand.h"
#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const GroupedPath kAvx512Grouped{
    .name = "avx512",
    .isa = "AVX-512",
    .tile = "6x64 or 12x32 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &GroupedScratch<GroupedIsa<Avx512>>::bytes,
    .run = &run_grouped<GroupedIsa<Avx512>, ExpandAvx512>,
};

}  // namespace tare::kernels
