#include "kernels/panel_projection.h"

#include <utility>

namespace tare::kernels {
namespace {

constexpr std::uint64_t whole_lines(std::uint64_t bytes) {
  constexpr std::uint64_t kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

PanelProjection::PanelProjection(PackedShape shape, SumOrder order, std::uint32_t rows,
                                 std::uint32_t slots, const PanelPath& path, ThreadPool& pool,
                                 Memory memory)
    : shape_(shape), order_(order), path_(path), pool_(pool), memory_(std::move(memory), slots) {
  set_rows(rows);
}

void PanelProjection::bind(std::uint32_t slot, const void* weights) {
  std::byte* into = memory_.make_slot(slot, shape_.bytes());
  pack_bias(shape_, weights, into);
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    pack_panels(shape_, weights, slice.first, slice.last, into, order_.even_first);
  });
}

void PanelProjection::set_rows(std::uint32_t rows) {
  set_rows(rows, order_);
}

void PanelProjection::set_rows(std::uint32_t rows, SumOrder order) {
  const std::uint64_t of_path = whole_lines(path_.scratch_bytes(shape_.pairs(), rows, order.lanes));
  const std::uint64_t of_x = order.even_first ? rows * shape_.k * sizeof(Bf16) : 0;
  memory_.make_scratch(pool_.threads(), of_path + of_x);
  rows_ = rows;
  order_ = order;
}

void PanelProjection::run(std::uint32_t slot, const Bf16* x, Bf16* y) {
  run_with(slot, [&](std::uint32_t thread, PanelTask& task) {
    task.x = order_.even_first ? swapped(x, thread) : x;
    task.y = y;
  });
}

void PanelProjection::run(std::uint32_t slot, const float* x, float* y) {
  run_with(slot, [&](std::uint32_t, PanelTask& task) {
    task.wide_x = x;
    task.wide_y = y;
  });
}

template <typename Fill>
void PanelProjection::run_with(std::uint32_t slot, const Fill& fill) {
  const std::byte* weights = memory_.slot(slot);
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    if (slice.first == slice.last) return;
    PanelTask task = task_in(order_, shape_.weights);
    task.weights = weights;
    fill(thread, task);
    if (shape_.bias != 0) task.bias = reinterpret_cast<const float*>(weights + shape_.bias_at());
    task.scratch = memory_.scratch(thread);
    task.k = shape_.k;
    task.n = shape_.n;
    task.rows = rows_;
    task.keep = keep_;
    task.pairs = shape_.pairs();
    task.first_panel = slice.first;
    task.last_panel = slice.last;
    path_.run(task);
  });
}

// Every thread does all of it for itself: that is less than waiting for each other.
const Bf16* PanelProjection::swapped(const Bf16* x, std::uint32_t thread) const {
  std::byte* scratch = memory_.scratch(thread);
  auto* into = reinterpret_cast<Bf16*>(
      scratch + whole_lines(path_.scratch_bytes(shape_.pairs(), rows_, order_.lanes)));
  swap_pairs(x, rows_ * shape_.k / 2, into);
  return into;
}

}  // namespace tare::kernels
