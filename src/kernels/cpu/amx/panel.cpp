// The panel kernel on AMX's tiles: TDPBF16PS, which flushes subnormals and rounds to nearest even
// whatever the control word says.
#include "kernels/cpu/amx_panel.h"

#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

// As LDTILECFG reads it: of each tile its rows, and the bytes of one.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

struct AmxUnit {
  static constexpr Nan kNan = Nan::kDefault;

  static void configure(std::uint64_t first_rows, std::uint64_t second_rows) {
    TileConfig config;
    const auto set = [&](std::size_t tile, std::uint64_t rows) {
      config.rows[tile] = static_cast<std::uint8_t>(rows);
      config.bytes[tile] = rows == 0 ? 0 : 64;
    };
    for (const std::size_t tile : {0u, 1u, 6u}) set(tile, first_rows);
    for (const std::size_t tile : {2u, 3u, 7u}) set(tile, second_rows);
    for (const std::size_t tile : {4u, 5u}) set(tile, kAmxPairs);
    asm volatile("ldtilecfg %0" : : "m"(config));
  }
  // Assembly: GCC 12's intrinsics print the name of a tile's number, and want it written as digits.
  static void release() { asm volatile("tilerelease"); }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const std::byte* from, std::uint64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void load_once(const std::byte* from, std::uint64_t stride) {
    asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(stride), "i"(kTile)
                 : "memory");
  }
  template <int kTile>
  static void store(float* into, std::uint64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(into), "r"(stride), "i"(kTile)
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
