// The panel kernel on AMX's tiles: TDPBF16PS, which flushes subnormals and rounds to nearest even
// whatever the control word says.
#include "kernels/cpu/amx_panel.h"

#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

struct AmxUnit : AmxTiles {
  static constexpr Nan kNan = Nan::kDefault;

  static void configure(std::uint64_t first_rows, std::uint64_t second_rows) {
    TileConfig config;
    for (const std::size_t tile : {0u, 1u, 6u}) config.set(tile, first_rows);
    for (const std::size_t tile : {2u, 3u, 7u}) config.set(tile, second_rows);
    for (const std::size_t tile : {4u, 5u}) config.set(tile, kAmxPairs);
    AmxTiles::configure(config);
  }
  template <int kTile>
  static void load_once(const std::byte* from, std::uint64_t stride) {
    asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(stride), "i"(kTile)
                 : "memory");
  }
  template <int kSum, int kX, int kWeights>
  static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kX), "i"(kWeights));
  }
};

std::uint64_t scratch_bytes(std::uint64_t pairs, std::uint64_t, std::uint64_t) {
  return AmxScratch::bytes(pairs);
}

}  // namespace

const PanelPath kAmxPanel{
    .name = "amx",
    .isa = "AMX BF16",
    .tile = "32x32 f32 by tdpbf16ps",
    .scratch_bytes = &scratch_bytes,
    .run = &run_amx<AmxUnit>,
};

}  // namespace tare::kernels
