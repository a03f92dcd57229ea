// The grouped kernel on AVX-512F, with codes by AVX-512 VBMI.
#include "kernels/cpu/grouped.h"
#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/avx512vbmi/expand.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {

const GroupedPath kAvx512VbmiGrouped{
    .name = "avx512vbmi",
    .isa = "AVX-512 VBMI",
    .tile = "6x64 or 12x32 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &GroupedScratch<GroupedIsa<Avx512>>::bytes,
    .run = &run_grouped<GroupedIsa<Avx512>, ExpandVbmi>,
};

}  // namespace tare::kernels
