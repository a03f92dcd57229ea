// AMX's tiles. Assembly: GCC 12's intrinsics print the name of a tile's number, and want it written
// as digits. Of internal linkage: see panel.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::kernels {
namespace {

// As LDTILECFG reads it: of each tile its rows, and the bytes of one.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};

  // Rows of 64 bytes; of none, the tile cannot be used.
  void set(std::size_t tile, std::uint64_t count) {
    rows[tile] = static_cast<std::uint8_t>(count);
    bytes[tile] = count == 0 ? 0 : 64;
  }
};

struct AmxTiles {
  static void configure(const TileConfig& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
  static void release() { asm volatile("tilerelease"); }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const void* from, std::uint64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(void* into, std::uint64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(into), "r"(stride), "i"(kTile)
                 : "memory");
  }
};

}  // namespace
}  // namespace tare::kernels
