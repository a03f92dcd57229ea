// The panel kernel of f16 and f32 weights for this instruction set.
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/avx2/float_isa.h"

namespace tare::kernels {
namespace {

constexpr const char* kName = "avx2";
constexpr const char* kIsa = "AVX2 FMA";
constexpr const char* kTile = "2x32 or 6x16 f32 by fused multiply-adds";

}  // namespace

const PanelPath kAvx2F16Panel = float_panel_path<Avx2Float, std::uint16_t>(kName, kIsa, kTile);
const PanelPath kAvx2F32Panel = float_panel_path<Avx2Float, float>(kName, kIsa, kTile);

}  // namespace tare::kernels
