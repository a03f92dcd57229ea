#include "kernels/panel_projection.h"

#include <utility>

namespace tare::kernels {

PanelProjection::PanelProjection(PackedShape shape, SumOrder order, std::uint32_t rows,
                                 std::uint32_t slots, const PanelPath& path, ThreadPool& pool,
                                 Memory memory)
    : shape_(shape), order_(order), path_(path), pool_(pool), memory_(std::move(memory), slots) {
  set_rows(rows);
}

void PanelProjection::bind(std::uint32_t slot, const void* weights) {
  std::byte* into = memory_.make_slot(slot, shape_.bytes());
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    pack_panels(shape_, weights, slice.first, slice.last, into);
  });
}

void PanelProjection::set_rows(std::uint32_t rows) {
  set_rows(rows, order_);
}

void PanelProjection::set_rows(std::uint32_t rows, SumOrder order) {
  memory_.make_scratch(pool_.threads(), path_.scratch_bytes(shape_.pairs(), rows, order.lanes));
  rows_ = rows;
  order_ = order;
}

void PanelProjection::run(std::uint32_t slot, const Bf16* x, Bf16* y) {
  const std::byte* weights = memory_.slot(slot);
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    if (slice.first == slice.last) return;
    path_.run({.weights = weights,
               .x = x,
               .y = y,
               .scratch = memory_.scratch(thread),
               .k = shape_.k,
               .n = shape_.n,
               .rows = rows_,
               .pairs = shape_.pairs(),
               .chunk_pairs = order_.chunk / (shape_.weights == TARE_BF16 ? 2 : 1),
               .lanes = order_.lanes,
               .keeps_subnormals = order_.keeps_subnormals,
               .fold = order_.fold.data(),
               .first_panel = slice.first,
               .last_panel = slice.last});
  });
}

}  // namespace tare::kernels
