// The panel kernel of f16 and f32 weights for this instruction set.
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/avx512/float_isa.h"

namespace tare::kernels {
namespace {

constexpr const char* kName = "avx512";
constexpr const char* kIsa = "AVX-512";
constexpr const char* kTile = "12x32 f32 by fused multiply-adds";

}  // namespace

const PanelPath kAvx512F16Panel = float_panel_path<Avx512Float, std::uint16_t>(kName, kIsa, kTile);
const PanelPath kAvx512F32Panel = float_panel_path<Avx512Float, float>(kName, kIsa, kTile);

}  // namespace tare::kernels
