// The grouped kernel on vdpbf16ps, with codes by AVX-512 VBMI.
#include "kernels/cpu/grouped.h"
#include "kernels/cpu/avx512bf16/isa.h"
#include "kernels/cpu/avx512vbmi/expand.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
const GroupedPath kAvx512Bf16Grouped{
    .name = "avx512bf16",
    .isa = "AVX-512 BF16",
    .tile = "6x64 or 12x32 f32 by vdpbf16ps",
    .scratch_bytes = &GroupedScratch<GroupedIsa<Avx512Bf16>>::bytes,
    .run = &run_grouped<GroupedIsa<Avx512Bf16>, ExpandVbmi>,
};

}  // namespace tare::kernels
