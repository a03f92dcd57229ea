#include "prove/probe.h"

namespace tare::prove {
namespace {

// Weights are near 0.02 and activations near 1; a power of two, so that the scaling is exact.
constexpr float kScale = 64;
constexpr Bf16 kNan = 0x7FC0;

bool in_first_part(std::size_t index, std::size_t size, Parts parts) {
  return parts == Parts::kHalves ? index < size / 2 : index % 2 == 0;
}

}  // namespace

void cancelling_row(std::span<const double> weights, Parts parts, float rest, Elements row) {
  double squares[2] = {0, 0};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double w = weights[i];
    squares[in_first_part(i, weights.size(), parts) ? 0 : 1] += w * w;
  }
  const double against = squares[1] > 0 ? -(1 - rest) * squares[0] / squares[1] : 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double factor = in_first_part(i, weights.size(), parts) ? 1 : against;
    row.set(i, static_cast<float>(kScale * factor * weights[i]));
  }
}

void spoil_row(Elements row) {
  for (const std::size_t i : {std::size_t{0}, row.size() / 2, row.size() - 1})
    row.set_bits(i, pattern_in(row.type(), kNan));
}

}  // namespace tare::prove
