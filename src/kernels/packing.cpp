#include "kernels/packing.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tare::kernels {
namespace {

// One cache line of every source row at a time: 16 pairs of 32 rows become 2 KiB of the panel, all
// within L1.
constexpr std::uint64_t kPairsAtOnce = 16;

Bf16Pair whole_pair(const Bf16* row, std::uint64_t pair) {
  Bf16Pair both;
  std::memcpy(&both, row + 2 * pair, sizeof both);
  return both;
}

void pack_output(const PackedShape& shape, const Bf16* row, std::uint64_t first_pair,
                 std::uint64_t last_pair, Bf16Pair* into) {
  const std::uint64_t whole = std::min(last_pair, shape.k / 2);
  std::uint64_t pair = first_pair;
  for (; pair < whole; ++pair) into[pair * kPanelOutputs] = whole_pair(row, pair);
  if (pair < last_pair) into[pair * kPanelOutputs] = row[2 * pair];  // odd k: its partner is zero
}

void pack_panel(const PackedShape& shape, const Bf16* weights, std::uint64_t outputs,
                Bf16Pair* panel) {
  if (outputs < kPanelOutputs) std::fill_n(panel, shape.panel_pairs(), Bf16Pair{0});
  for (std::uint64_t first = 0; first < shape.pairs(); first += kPairsAtOnce) {
    const std::uint64_t last = std::min(first + kPairsAtOnce, shape.pairs());
    for (std::uint64_t output = 0; output < outputs; ++output) {
      pack_output(shape, weights + output * shape.k, first, last, panel + output);
    }
  }
}

}  // namespace

void pack_panels(const PackedShape& shape, const Bf16* weights, std::uint64_t first,
                 std::uint64_t last, Bf16Pair* packed, bool swapped) {
  for (std::uint64_t panel = first; panel < last; ++panel) {
    const std::uint64_t output = panel * kPanelOutputs;
    Bf16Pair* into = packed + panel * shape.panel_pairs();
    pack_panel(shape, weights + output * shape.k, std::min(kPanelOutputs, shape.n - output), into);
    if (swapped)
      std::transform(into, into + shape.panel_pairs(), into,
                     [](Bf16Pair pair) { return std::rotl(pair, 16); });
  }
}

void swap_pairs(const Bf16* x, std::uint64_t pairs, Bf16* into) {
  for (std::uint64_t i = 0; i < 2 * pairs; i += 2) {
    into[i] = x[i + 1];
    into[i + 1] = x[i];
  }
}

}  // namespace tare::kernels
