// Streaming reads and multiply-adds in plain C++.
#include "kernels/cpu/limit_kernels.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/stream.h"

#include <cstring>

namespace tare::kernels {
namespace {

struct Reader {
  struct Line {
    std::uint64_t word[8];
  };
  static void mix(Line& line, const std::byte* from) {
    std::uint64_t word[8];
    std::memcpy(word, from, sizeof word);
    for (std::size_t i = 0; i < 8; ++i) line.word[i] ^= word[i];
  }
  static std::uint64_t fold(const Line& line) {
    std::uint64_t all = 0;
    for (const auto one : line.word) all ^= one;
    return all;
  }
};

// A multiplication and an addition: plain C++ has no fused one that is fast everywhere.
struct MultiplyThenAdd {
  struct Vector {
    float lane[4];
  };
  static constexpr std::uint64_t kMultiplyAdds = 4;
  static Vector sum_of(float value) { return {{value, value, value, value}}; }
  static Vector factor(float value) { return sum_of(value); }
  static Vector multiply_add(Vector sum, const Vector& a, const Vector& b) {
    for (std::size_t i = 0; i < 4; ++i) sum.lane[i] += a.lane[i] * b.lane[i];
    return sum;
  }
  static float lowest(const Vector& sum) { return sum.lane[0]; }
};

// 8-bit numbers in 32-bit sums.
struct Int8MultiplyThenAdd {
  struct Vector {
    std::int32_t lane[4];
  };
  static constexpr std::uint64_t kMultiplyAdds = 4;
  static Vector sum_of(float value) {
    const auto whole = static_cast<std::int32_t>(value);
    return {{whole, whole, whole, whole}};
  }
  static std::int8_t factor(float value) { return static_cast<std::int8_t>(2 * value); }
  static Vector multiply_add(Vector sum, std::int8_t a, std::int8_t b) {
    for (std::int32_t& lane : sum.lane) {
      lane += a * b;
      asm("" : "+r"(lane));  // a turn's sum is not a multiple of one product to the compiler
    }
    return sum;
  }
  static float lowest(const Vector& sum) { return static_cast<float>(sum.lane[0]); }
};

}  // namespace

namespace portable {
std::uint64_t read_plain(const std::byte* from, std::uint64_t bytes) {
  return read_streams<Reader, 1, 1>(from, bytes);
}
float multiply_add(std::uint64_t multiply_adds) {
  return run_peak<MultiplyThenAdd, 12>(multiply_adds);
}
float multiply_add_int8(std::uint64_t multiply_adds) {
  return run_peak<Int8MultiplyThenAdd, 2>(multiply_adds);
}
}  // namespace portable

}  // namespace tare::kernels
