// How weights lie for the panel kernels: [n / 32][k / 2][32][2] bf16. A panel is 32 outputs; within
// it, pair after pair of k, the 32 outputs' two elements side by side. So a kernel reads one
// ascending stream of memory, outputs lie in vector lanes, and one 32-bit lane is what vdpbf16ps
// multiplies. Odd k is padded with a zero, n with outputs of zeros.
#pragma once

#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"

namespace tare::kernels {

struct PackedShape {
  std::uint64_t k = 0;
  std::uint64_t n = 0;

  std::uint64_t pairs() const { return k / 2 + k % 2; }
  std::uint64_t panels() const { return n / kPanelOutputs + (n % kPanelOutputs != 0); }
  std::uint64_t panel_pairs() const {
    return pairs() * kPanelOutputs;
  }  // 32-bit words of one panel
  std::uint64_t bytes() const { return panels() * panel_pairs() * sizeof(Bf16Pair); }
};

// Packs the panels [first, last) of `weights`, W[n, k] row-major, into `packed`, which holds
// shape.bytes(). Distinct ranges may be packed by distinct threads at the same time.
// `swapped`: with the elements of every pair in each other's place (SumOrder::even_first).
void pack_panels(const PackedShape& shape, const Bf16* weights, std::uint64_t first,
                 std::uint64_t last, Bf16Pair* packed, bool swapped = false);

// x [rows, k] of an even k with the elements of every pair in each other's place: of all x, `pairs`
// of them.
void swap_pairs(const Bf16* x, std::uint64_t pairs, Bf16* into);

}  // namespace tare::kernels
