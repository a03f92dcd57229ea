// The kernel of rounded activations in plain C++.
#include "kernels/cpu/rounded.h"
#include "formats/half.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

struct Unchanged {};

struct RoundedPortable {
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kMostRows = 2;
  static constexpr std::size_t columns(std::size_t) { return 2; }
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
  static Vector times(const Vector& a, const Vector& b) { return fused(spread(0), a, b); }
  static Vector fused(const Vector& sum, const Vector& a, const Vector& b) {
    return each([&](std::size_t i) {
      return multiply_add_flushed(flushed(a.lane[i]), flushed(b.lane[i]), sum.lane[i]);
    });
  }
  static Vector f16(const std::byte* from) {
    return each([&](std::size_t i) {
      std::uint16_t word;
      std::memcpy(&word, from + 2 * i, sizeof word);
      return formats::from_f16(word);
    });
  }
  static Vector bytes(const std::byte* from) {
    return each([&](std::size_t i) { return static_cast<float>(from[i]); });
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
    const std::size_t at = Bits == 8 ? 32 * column : column / 4 * 64 + column % 2 * 32;
    const unsigned shift = column / 2 % 2 * 4;
    Codes all;
    for (std::size_t i = 0; i < 4 * kLanes; ++i) {
      const auto byte = static_cast<unsigned>(from[at + i]);
      all.byte[i] = static_cast<std::uint8_t>(Bits == 8 ? byte : byte >> shift & 15);
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
    .scratch_bytes = &rounded_scratch_bytes,
    .run = &run_rounded<RoundedPortable, Unchanged>,
};

}  // namespace tare::kernels
