// Reading memory as fast as it comes, once for every instruction set. Included only by the files
// that instantiate it with an Isa of internal linkage (see panel.h). An Isa says: Line (64 bytes,
// zero when value-initialised), mix(line&, pointer): XOR 64 bytes of memory into it, and
// fold(line): 64 bits of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/prefetch.h"

namespace tare::kernels {

inline constexpr std::uint64_t kStreamLine = 64;

// Reads [from, from + bytes) as Streams streams side by side, Lines lines of each a turn, every one
// into an accumulator of its own; prefetches Ahead bytes before each read, 0 for none.
template <typename Isa, std::size_t Streams, std::size_t Lines, std::size_t Ahead = 0,
          Keep keep = Keep::kEveryCache>
std::uint64_t read_streams(const std::byte* from, std::uint64_t bytes) {
  constexpr std::uint64_t kTurn = Lines * kStreamLine;
  const std::uint64_t stream = bytes / (Streams * kTurn) * kTurn;  // bytes of one stream
  typename Isa::Line line[Streams][Lines] = {};
  for (std::uint64_t at = 0; at < stream; at += kTurn) {
#pragma GCC unroll 8
    for (std::size_t s = 0; s < Streams; ++s) {
#pragma GCC unroll 8
      for (std::size_t l = 0; l < Lines; ++l) {
        const std::byte* here = from + s * stream + at + l * kStreamLine;
        if constexpr (Ahead != 0) {
          __builtin_prefetch(here + Ahead, 0, static_cast<int>(keep));
        }
        Isa::mix(line[s][l], here);
      }
    }
  }
  std::uint64_t all = 0;
#pragma GCC unroll 8
  for (std::size_t s = 0; s < Streams; ++s) {
#pragma GCC unroll 8
    for (std::size_t l = 0; l < Lines; ++l) all ^= Isa::fold(line[s][l]);
  }
  for (std::uint64_t at = Streams * stream; at < bytes;
       ++at) {  // less than one turn of every stream
    all ^= static_cast<std::uint64_t>(from[at]) << (at % 8 * 8);
  }
  return all;
}

}  // namespace tare::kernels
