// Multiply-adds on AMX's tiles. Reading is avx512/'s business.
#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/limit_kernels.h"

namespace tare::kernels {
namespace {

constexpr std::uint64_t kRows = 16, kRowBytes = 64, kWords = kRows * kRowBytes / 4;
constexpr std::size_t kSums = 4;  // tiles of sums, two by two; tdpbf16ps takes 16 cycles, and 52
                                  // until its sums are there

// A tile whose 4-byte words are all the same.
template <int kTile, typename Word>
void fill(Word word) {
  alignas(64) Word words[kWords];
  for (Word& one : words) one = word;
  AmxTiles::load<kTile>(words, kRowBytes);
}
template <int kTile, typename Word>
Word lowest() {
  alignas(64) Word words[kWords];
  AmxTiles::store<kTile>(words, kRowBytes);
  return words[0];
}

// Turns of kSums products each, so many as make `multiply_adds`. `Dot` has the tiles' words, what
// is in the factors', and run<sums, a, b>().
template <typename Dot>
float run_tiles(std::uint64_t multiply_adds) {
  TileConfig config;
  for (std::size_t tile = 0; tile < 2 * kSums; ++tile) config.set(tile, kRows);
  AmxTiles::configure(config);
  using Word = typename Dot::Word;
  fill<0>(Word{0});
  fill<1>(Word{1});
  fill<2>(Word{2});
  fill<3>(Word{3});
  fill<4>(Dot::kFactors);
  fill<5>(Dot::kFactors);
  fill<6>(Dot::kFactors);
  fill<7>(Dot::kFactors);
  for (std::uint64_t done = 0; done < multiply_adds; done += kSums * Dot::kMultiplyAdds) {
    Dot::template run<0, 4, 6>();
    Dot::template run<1, 4, 7>();
    Dot::template run<2, 5, 6>();
    Dot::template run<3, 5, 7>();
  }
  const Word all = lowest<0, Word>() + lowest<1, Word>() + lowest<2, Word>() + lowest<3, Word>();
  AmxTiles::release();
  return static_cast<float>(all);
}

struct Bf16Dot {
  using Word = float;
  static constexpr std::uint64_t kMultiplyAdds = kRows * 16 * 32;
  static constexpr std::uint32_t kFactors = 0x3F003F00;  // 0.5 twice
  template <int kSum, int kA, int kB>
  static void run() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};

struct Int8Dot {
  using Word = std::int32_t;
  static constexpr std::uint64_t kMultiplyAdds = kRows * 16 * 64;
  static constexpr std::uint32_t kFactors = 0x01010101;
  template <int kSum, int kA, int kB>
  static void run() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};

}  // namespace

float amx::multiply_add(std::uint64_t multiply_adds) {
  return run_tiles<Bf16Dot>(multiply_adds);
}
float amx::multiply_add_int8(std::uint64_t multiply_adds) {
  return run_tiles<Int8Dot>(multiply_adds);
}

}  // namespace tare::kernels
