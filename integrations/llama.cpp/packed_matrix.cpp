#include "packed_matrix.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "kernels/grouped_packing.h"
#include "kernels/thread_pool.h"

namespace tare::llama {
namespace {

using kernels::Bf16;
using kernels::slice_of;

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

constexpr std::size_t whole(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Measured once a process: which of them is fastest is a matter of the processor.
const kernels::PanelPath& panel_path() {
  static const kernels::PanelPath& path = kernels::choose_panel_path("");
  return path;
}
const kernels::GroupedPath& rounded_path() {
  static const kernels::GroupedPath& path = kernels::choose_rounded_path("");
  return path;
}

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  const std::size_t mapped = whole(bytes, kHugePage) + kHugePage;
  void* memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // The parts before and after whole huge pages are given back.
  auto* from = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::size_t before = whole(address, kHugePage) - address;
  const std::size_t kept = whole(bytes, kHugePage);
  if (before > 0) ::munmap(from, before);
  if (before < kHugePage) ::munmap(from + before + kept, kHugePage - before);
  ::madvise(from + before, kept, MADV_HUGEPAGE);
  memory_ = {from + before, Unmap{kept}};
}

void Unmap::operator()(std::byte* memory) const {
  ::munmap(memory, bytes);
}

std::byte* Workspace::at_least(std::size_t bytes) {
  if (pages_.bytes() < bytes) pages_ = Pages(bytes);
  return pages_.data();
}

std::optional<Kernel> kernel_of(std::string_view arm, std::uint32_t weights) {
  const kernels::PanelArm* panel = kernels::panel_arm(arm);
  if ((panel != nullptr) != (weights == TARE_BF16)) return std::nullopt;
  if (panel == nullptr && arm != "tare-grouped") return std::nullopt;
  if (panel != nullptr && panel->order(2, 1).even_first) return std::nullopt;  // packed otherwise
  return Kernel{panel};
}

PackedMatrix::PackedMatrix(std::uint32_t type, std::uint64_t k, std::uint64_t n,
                           const void* weights, const Team& team)
    : is_bf16_(type == TARE_BF16), panels_{k, n} {
  if (!is_bf16_) groups_ = kernels::grouped_shape(type, TARE_BF16_AS_INT8, k, n);
  packed_ = Pages(is_bf16_ ? panels_.bytes() : groups_.bytes());
  const std::uint64_t panels = is_bf16_ ? panels_.panels() : groups_.panels();
  team.run([&](std::uint32_t index, std::uint32_t count) {
    const kernels::Slice slice = slice_of(panels, count, index);
    if (is_bf16_)
      kernels::pack_panels(panels_, static_cast<const Bf16*>(weights), slice.first, slice.last,
                           reinterpret_cast<kernels::Bf16Pair*>(packed_.data()));
    else
      kernels::pack_grouped(groups_, type, weights, slice.first, slice.last, packed_.data());
  });
}

void PackedMatrix::multiply(const Kernel& kernel, const float* x, float* y, std::uint32_t rows,
                            const Team& team, Workspace& workspace) const {
  if (is_bf16_)
    multiply_panels(kernel.panel->order(panels_.k, rows), x, y, rows, team, workspace);
  else
    multiply_groups(x, y, rows, team, workspace);
}

void PackedMatrix::multiply_groups(const float* x, float* y, std::uint64_t rows, const Team& team,
                                   Workspace& workspace) const {
  const kernels::GroupedPath& path = rounded_path();
  const std::size_t each = whole(path.scratch_bytes(groups_, rows), kPage);
  std::byte* scratch = workspace.at_least(each * team.threads());
  team.run([&](std::uint32_t index, std::uint32_t count) {
    const kernels::Slice slice = slice_of(groups_.panels(), count, index);
    if (slice.first == slice.last) return;
    path.run({.shape = groups_,
              .weights = packed_.data(),
              .wide_x = x,
              .wide_y = y,
              .scratch = scratch + index * each,
              .rows = rows,
              .first_panel = slice.first,
              .last_panel = slice.last});
  });
}

void PackedMatrix::multiply_panels(const kernels::SumOrder& order, const float* x, float* y,
                                   std::uint64_t rows, const Team& team,
                                   Workspace& workspace) const {
  const kernels::PanelPath& path = panel_path();
  const std::uint64_t k = panels_.k;
  const std::size_t of_x = whole(rows * k * sizeof(Bf16), kPage);
  const std::size_t each = whole(path.scratch_bytes(panels_.pairs(), rows, order.lanes), kPage);
  std::byte* memory = workspace.at_least(of_x + each * team.threads());
  auto* narrow_x = reinterpret_cast<Bf16*>(memory);
  team.run([&](std::uint32_t index, std::uint32_t count) {
    const kernels::Slice slice = slice_of(rows * k, count, index);
    for (std::uint64_t i = slice.first; i < slice.last; ++i) narrow_x[i] = kernels::narrow(x[i]);
  });
  team.run([&](std::uint32_t index, std::uint32_t count) {
    const kernels::Slice slice = slice_of(panels_.panels(), count, index);
    if (slice.first == slice.last) return;
    kernels::PanelTask task = kernels::task_in(order);
    task.weights = reinterpret_cast<const kernels::Bf16Pair*>(packed_.data());
    task.x = narrow_x;
    task.wide_y = y;
    task.scratch = memory + of_x + index * each;
    task.k = k;
    task.n = panels_.n;
    task.rows = rows;
    task.pairs = panels_.pairs();
    task.first_panel = slice.first;
    task.last_panel = slice.last;
    path.run(task);
  });
}

}  // namespace tare::llama
