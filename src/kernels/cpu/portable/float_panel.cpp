// The panel kernel of f16 and f32 weights for this instruction set.
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/portable/float_isa.h"

namespace tare::kernels {
namespace {

constexpr const char* kName = "portable";
constexpr const char* kIsa = "portable C++";
constexpr const char* kTile = "2x16 f32 by fused multiply-adds";

}  // namespace

const PanelPath kPortableF16Panel =
    float_panel_path<PortableFloat, std::uint16_t>(kName, kIsa, kTile);
const PanelPath kPortableF32Panel = float_panel_path<PortableFloat, float>(kName, kIsa, kTile);

}  // namespace tare::kernels
