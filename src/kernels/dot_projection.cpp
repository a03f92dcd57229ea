#include "kernels/dot_projection.h"

#include <utility>

namespace tare::kernels {

DotProjection::DotProjection(DotShape shape, std::uint32_t rows, std::uint32_t slots,
                             DotKernel kernel, ThreadPool& pool, Memory memory)
    : shape_(shape), rows_(rows), kernel_(kernel), pool_(pool), memory_(std::move(memory), slots) {}

void DotProjection::bind(std::uint32_t slot, const Bf16* weights) {
  auto* into = reinterpret_cast<Bf16*>(memory_.make_slot(slot, shape_.bytes()));
  pack_bias_for_dots(shape_, weights, into);
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    pack_for_dots(shape_, weights, slice.first, slice.last, into);
  });
}

void DotProjection::run(std::uint32_t slot, const Bf16* x, Bf16* y) {
  const std::byte* packed = memory_.slot(slot);
  const auto* weights = reinterpret_cast<const Bf16*>(packed);
  const auto* bias =
      shape_.bias == 0 ? nullptr : reinterpret_cast<const float*>(packed + shape_.bias_at());
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    kernel_({.shape = shape_,
             .weights = weights,
             .x = x,
             .y = y,
             .wide_y = nullptr,
             .bias = bias,
             .rows = rows_,
             .first_panel = slice.first,
             .last_panel = slice.last});
  });
}

}  // namespace tare::kernels
