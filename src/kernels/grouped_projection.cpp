#include "kernels/grouped_projection.h"

#include <utility>

#include "kernels/grouped_packing.h"

namespace tare::kernels {

GroupedProjection::GroupedProjection(std::uint32_t type, const GroupedShape& shape,
                                     std::uint32_t rows, std::uint32_t slots,
                                     const GroupedPath& path, ThreadPool& pool, Memory memory)
    : type_(type), shape_(shape), path_(path), pool_(pool), memory_(std::move(memory), slots) {
  set_rows(rows);
}

void GroupedProjection::bind(std::uint32_t slot, const void* weights) {
  std::byte* into = memory_.make_slot(slot, shape_.bytes());
  pack_grouped_bias(shape_, type_, weights, into);
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    pack_grouped(shape_, type_, weights, slice.first, slice.last, into);
  });
}

void GroupedProjection::set_rows(std::uint32_t rows) {
  memory_.make_scratch(pool_.threads(), path_.scratch_bytes(shape_, rows));
  rows_ = rows;
}

void GroupedProjection::run(std::uint32_t slot, const Bf16* x, Bf16* y) {
  const std::byte* weights = memory_.slot(slot);
  const auto* bias =
      shape_.bias == 0 ? nullptr : reinterpret_cast<const float*>(weights + shape_.bias_at());
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    if (slice.first == slice.last) return;
    path_.run({.shape = shape_,
               .weights = weights,
               .x = x,
               .y = y,
               .bias = bias,
               .scratch = memory_.scratch(thread),
               .rows = rows_,
               .first_panel = slice.first,
               .last_panel = slice.last});
  });
}

}  // namespace tare::kernels
