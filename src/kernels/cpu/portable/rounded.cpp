// The kernel of rounded activations in plain C++.
#include <cmath>
#include <cstring>

#include "formats/half.h"
#include "kernels/cpu/paths.h"
#include "kernels/cpu/rounded.h"

namespace tare::kernels {
namespace {

struct RoundedPortable {
  static constexpr std::size_t kLanes = 8;
  template <std::size_t Parts>
  static constexpr std::size_t kMostRows = 2;
  template <std::size_t Parts>
  static constexpr std::size_t columns(std::size_t) {
    return 2;
  }
  struct Vector {
    float lane[kLanes];
  };
  struct Sums {
    std::int32_t lane[kLanes];
  };
  struct Codes {
    std::uint8_t byte[4 * kLanes];
  };

  template <typename Make>
  static Vector each(Make&& make) {
    Vector all;
    for (std::size_t i = 0; i < kLanes; ++i) all.lane[i] = make(i);
    return all;
  }
  static Vector load(const float* from) {
    return each([&](std::size_t i) { return from[i]; });
  }
  static void store(float* into, const Vector& value) {
    for (std::size_t i = 0; i < kLanes; ++i) into[i] = value.lane[i];
  }
  static Vector spread(float value) {
    return each([&](std::size_t) { return value; });
  }
  static Vector times(const Vector& a, const Vector& b) {
    return each([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
  }
  static Vector fused(const Vector& sum, const Vector& a, const Vector& b) {
    return each([&](std::size_t i) { return std::fma(a.lane[i], b.lane[i], sum.lane[i]); });
  }
  static Vector f16(const std::byte* from) {
    return each([&](std::size_t i) {
      std::uint16_t word;
      std::memcpy(&word, from + 2 * i, sizeof word);
      return formats::from_f16(word);
    });
  }
  template <bool Unsigned>
  static Vector bytes(const std::byte* from) {
    return each([&](std::size_t i) {
      const auto byte = static_cast<std::uint8_t>(from[i]);
      return static_cast<float>(Unsigned ? byte : static_cast<std::int8_t>(byte));
    });
  }
  static Sums start(std::int32_t value) {
    Sums all;
    for (std::size_t i = 0; i < kLanes; ++i) all.lane[i] = value;
    return all;
  }
  static Vector as_float(const Sums& sums) {
    return each([&](std::size_t i) { return static_cast<float>(sums.lane[i]); });
  }

  template <unsigned Bits>
  static Codes codes(const std::byte* from, std::size_t column) {
    const std::size_t sixteen = column / 2, half = column % 2;  // outputs as they are packed
    const std::size_t at = Bits == 8 ? 32 * column : sixteen / 2 * 64 + half * 32;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(from[i]); };
    Codes all;
    for (std::size_t i = 0; i < 4 * kLanes; ++i) {
      unsigned code = Bits == 8 ? byte(at + i) : byte(at + i) >> (sixteen % 2 * 4) & 15;
      const std::size_t own = 32 * half + i;  // of the sixteen outputs' bytes
      if constexpr (Bits == 5) code |= (byte(128 + 8 * sixteen + own / 8) >> (own % 8) & 1) << 4;
      if constexpr (Bits == 6) code |= (byte(128 + own) >> (2 * sixteen) & 3) << 4;
      all.byte[i] = static_cast<std::uint8_t>(code);
    }
    return all;
  }
  static Sums dot(Sums sums, const Codes& codes, Quad x) {
    for (std::size_t i = 0; i < kLanes; ++i)
      for (std::size_t e = 0; e < 4; ++e)
        sums.lane[i] += codes.byte[4 * i + e] * static_cast<std::int8_t>(x >> (8 * e));
    return sums;
  }
};

}  // namespace

const GroupedPath kPortableRounded{
    .name = "portable",
    .isa = "portable C++",
    .tile = "2x16 int32",
    .scratch_bytes = &RoundedScratch::bytes,
    .run = &run_rounded<RoundedPortable>,
};

}  // namespace tare::kernels
