// The panel kernel in plain C++: every multiply-add is the scalar emulation, in loops a compiler
// may vectorise.
#include "kernels/cpu/panel.h"
#include "kernels/cpu/paths.h"
#include "kernels/cpu/portable/isa.h"

namespace tare::kernels {

const PanelPath kPortablePanel{
    .name = "portable",
    .isa = "portable C++",
    .tile = "2x16 f32 by emulated fused multiply-adds",
    .scratch_bytes = &scratch_bytes<Portable>,
    .run = &run_panels<Portable>,
};

}  // namespace tare::kernels
