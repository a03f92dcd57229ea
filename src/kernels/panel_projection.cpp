#include "kernels/panel_projection.h"

#include <utility>

#include "base/error.h"

namespace tare::kernels {
namespace {

// Threads' scratch starts on pages of their own.
constexpr std::uint64_t kPage = 4096;
std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

PanelProjection::PanelProjection(PackedShape shape, SumOrder order, std::uint32_t rows,
                                 std::uint32_t slots, const PanelPath& path, ThreadPool& pool,
                                 Memory memory)
    : shape_(shape),
      order_(order),
      path_(path),
      pool_(pool),
      memory_(std::move(memory)),
      slots_(slots) {
  set_rows(rows);
}

PanelProjection::Block PanelProjection::allocate(std::uint64_t bytes, const char* purpose) const {
  void* memory = memory_.allocate(bytes);
  if (memory == nullptr) {
    fail(Blame::kMachine, "no memory for {} bytes of {} ({} x {}): make the ring smaller", bytes,
         purpose, shape_.k, shape_.n);
  }
  return {memory, memory_.release};
}

void PanelProjection::bind(std::uint32_t slot, const Bf16* weights) {
  Block& packed = slots_.at(slot);
  if (packed == nullptr) packed = allocate(shape_.bytes(), "packed weights");
  auto* into = static_cast<Bf16Pair*>(packed.get());
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    pack_panels(shape_, weights, slice.first, slice.last, into);
  });
}

void PanelProjection::set_rows(std::uint32_t rows) {
  const std::uint64_t stride = whole_pages(path_.scratch_bytes(shape_.pairs(), rows));
  if (stride > scratch_stride_) scratch_ = allocate(stride * pool_.threads(), "scratch");
  scratch_stride_ = stride > scratch_stride_ ? stride : scratch_stride_;
  rows_ = rows;
}

void PanelProjection::run(std::uint32_t slot, const Bf16* x, Bf16* y) {
  const auto* weights = static_cast<const Bf16Pair*>(slots_[slot].get());
  auto* scratch = static_cast<std::byte*>(scratch_.get());
  pool_.run([&](std::uint32_t thread) {
    const Slice slice = slice_of(shape_.panels(), pool_.threads(), thread);
    if (slice.first == slice.last) return;
    path_.run({.weights = weights,
               .x = x,
               .y = y,
               .scratch = scratch + thread * scratch_stride_,
               .k = shape_.k,
               .n = shape_.n,
               .rows = rows_,
               .pairs = shape_.pairs(),
               .chunk_pairs = order_.chunk / 2,
               .first_panel = slice.first,
               .last_panel = slice.last});
  });
}

}  // namespace tare::kernels
