// The panel kernel of f16 and f32 weights for this instruction set.
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/paths.h"
#include "kernels/cpu/portable/float_isa.h"

namespace tare::kernels {

const PanelPath kPortableF16Panel{
    .name = "portable",
    .isa = "portable C++",
    .tile = "2x16 f32 by fused multiply-adds",
    .scratch_bytes = &scratch_bytes_in_order<PortableFloat<std::uint16_t>>,
    .run = &run_float_panels<PortableFloat<std::uint16_t>>,
};

const PanelPath kPortableF32Panel{
    .name = "portable",
    .isa = "portable C++",
    .tile = "2x16 f32 by fused multiply-adds",
    .scratch_bytes = &scratch_bytes_in_order<PortableFloat<float>>,
    .run = &run_float_panels<PortableFloat<float>>,
};

}  // namespace tare::kernels
