// Two models' logits compared, over the whole vocabulary.
#pragma once

#include <cstdint>
#include <span>

namespace tare::serve {

struct LogitDifference {
  std::uint64_t tokens = 0;
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;       // other bits; +0 and -0 are other bits, two NaN are not
  std::uint64_t class_mismatch = 0;  // NaN or infinite on one side only, or of another sign
  std::uint64_t max_ulp = 0;         // of finite ones: steps of f32 between them
  double max_absolute = 0;
  double kl_sum = 0, kl_max = 0;  // nats, of the second from the first, a token
  std::uint64_t top_changes = 0;  // tokens whose likeliest successor is another one

  double kl_mean() const { return tokens == 0 ? 0 : kl_sum / static_cast<double>(tokens); }
};

// Bits that `max_ulp` takes: how many of the low bits of f32 are touched at least.
unsigned bits_of(std::uint64_t ulp);

// Adds [tokens][vocabulary] logits of both; spans of equal size, a whole number of vocabularies.
void add(LogitDifference& sum, std::span<const float> before, std::span<const float> after,
         std::size_t vocabulary);

}  // namespace tare::serve
