// The grouped kernel in plain C++.
#include "kernels/cpu/grouped.h"
#include "kernels/cpu/paths.h"
#include "kernels/cpu/portable/expand.h"
#include "kernels/cpu/portable/isa.h"

namespace tare::kernels {

const GroupedPath kPortableGrouped{
    .name = "portable",
    .isa = "portable C++",
    .tile = "2x16 f32 by emulated fused multiply-adds",
    .scratch_bytes = &GroupedScratch<GroupedIsa<Portable>>::bytes,
    .run = &run_grouped<GroupedIsa<Portable>, ExpandPortable>,
};

}  // namespace tare::kernels
