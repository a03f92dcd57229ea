#include "kernels/packing.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include "formats/decode.h"

namespace tare::kernels {
namespace {

// One cache line of every source row at a time: 16 pairs of 32 rows become 2 KiB of the panel, all
// within L1.
constexpr std::uint64_t kPairsAtOnce = 16;

// The pairs [first, last) of one output, from row-major weights; packed they are kPanelOutputs
// apart. Pair is Bf16Pair, or one element. An odd k of bf16 lacks the last half pair.
template <typename Pair>
void pack_output(const std::byte* row, std::uint64_t row_bytes, std::uint64_t first,
                 std::uint64_t last, Pair* into) {
  const std::uint64_t whole = std::min(last, row_bytes / sizeof(Pair));
  std::uint64_t pair = first;
  for (; pair < whole; ++pair)
    std::memcpy(into + pair * kPanelOutputs, row + pair * sizeof(Pair), sizeof(Pair));
  if (pair == last) return;
  into[pair * kPanelOutputs] = Pair{};
  std::memcpy(into + pair * kPanelOutputs, row + pair * sizeof(Pair), row_bytes % sizeof(Pair));
}

template <typename Pair>
void pack_panel(const PackedShape& shape, const std::byte* weights, std::uint64_t row_bytes,
                std::uint64_t outputs, Pair* panel) {
  if (outputs < kPanelOutputs) std::fill_n(panel, shape.pairs() * kPanelOutputs, Pair{});
  for (std::uint64_t first = 0; first < shape.pairs(); first += kPairsAtOnce) {
    const std::uint64_t last = std::min(first + kPairsAtOnce, shape.pairs());
    for (std::uint64_t output = 0; output < outputs; ++output)
      pack_output(weights + output * row_bytes, row_bytes, first, last, panel + output);
  }
}

template <typename Pair>
void pack_any(const PackedShape& shape, const std::byte* weights, std::uint64_t row_bytes,
              std::uint64_t first, std::uint64_t last, std::byte* packed) {
  for (std::uint64_t panel = first; panel < last; ++panel) {
    const std::uint64_t output = panel * kPanelOutputs;
    pack_panel(shape, weights + output * row_bytes, row_bytes,
               std::min(kPanelOutputs, shape.n - output),
               reinterpret_cast<Pair*>(packed + panel * shape.panel_bytes()));
  }
}

}  // namespace

void pack_panels(const PackedShape& shape, const void* weights, std::uint64_t first,
                 std::uint64_t last, void* packed, bool swapped) {
  const auto* from = static_cast<const std::byte*>(weights);
  auto* into = static_cast<std::byte*>(packed);
  if (shape.weights == TARE_F16)
    pack_any<std::uint16_t>(shape, from, shape.k * 2, first, last, into);
  else
    pack_any<std::uint32_t>(shape, from, shape.k * (shape.weights == TARE_F32 ? 4 : 2), first, last,
                            into);
  if (!swapped) return;
  auto* const pairs = reinterpret_cast<Bf16Pair*>(into);
  const std::uint64_t panel = shape.pairs() * kPanelOutputs;
  std::transform(pairs + first * panel, pairs + last * panel, pairs + first * panel,
                 [](Bf16Pair pair) { return std::rotl(pair, 16); });
}

void pack_bias(const PackedShape& shape, const void* weights, void* packed) {
  if (shape.bias == 0) return;
  const std::vector<float> bias =
      formats::bias_of(formats::format_of(shape.weights), shape.k, shape.n, shape.bias, weights);
  auto* const into = reinterpret_cast<float*>(static_cast<std::byte*>(packed) + shape.bias_at());
  std::fill(std::ranges::copy(bias, into).out, into + shape.panels() * kPanelOutputs, 0.0F);
}

void swap_pairs(const Bf16* x, std::uint64_t pairs, Bf16* into) {
  for (std::uint64_t i = 0; i < 2 * pairs; i += 2) {
    into[i] = x[i + 1];
    into[i + 1] = x[i];
  }
}

}  // namespace tare::kernels
