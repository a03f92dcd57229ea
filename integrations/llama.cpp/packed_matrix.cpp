#include "packed_matrix.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "kernels/grouped_packing.h"

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
  using Kind = Kernel::Kind;
  const bool plain = weights == TARE_BF16;
  const kernels::PanelArm* panel = kernels::panel_arm(arm);
  // Weights in another order of the elements of a pair are packed otherwise.
  if (plain && panel != nullptr && !panel->order(2, 1).even_first)
    return Kernel{Kind::kPanels, panel};
  if (plain && arm == kernels::kDotArm && kernels::dot_kernel() != nullptr)
    return Kernel{Kind::kDots, nullptr};
  if (!plain && arm == "tare-grouped") return Kernel{Kind::kGroups, nullptr};
  return std::nullopt;
}

PackedMatrix::PackedMatrix(Kernel::Kind kind, std::uint32_t type, std::uint64_t k, std::uint64_t n,
                           const void* weights, const Team& team)
    : kind_(kind), panels_{k, n}, dots_{k, n} {
  if (kind == Kernel::Kind::kGroups)
    groups_ = kernels::grouped_shape(type, TARE_BF16_AS_INT8, k, n);
  packed_ = Pages(kind == Kernel::Kind::kGroups   ? groups_.bytes()
                  : kind == Kernel::Kind::kPanels ? panels_.bytes()
                                                  : dots_.bytes());
  team.run([&](std::uint32_t index, std::uint32_t count) {
    pack(type, weights, slice_of(parts(), count, index));
  });
}

std::uint64_t PackedMatrix::parts() const {
  switch (kind_) {
    case Kernel::Kind::kGroups:
      return groups_.panels();
    case Kernel::Kind::kPanels:
      return panels_.panels();
    case Kernel::Kind::kDots:
      return dots_.panels();
  }
  return 0;
}

void PackedMatrix::pack(std::uint32_t type, const void* weights, const Slice& slice) {
  const auto* plain = static_cast<const Bf16*>(weights);
  switch (kind_) {
    case Kernel::Kind::kGroups:
      return kernels::pack_grouped(groups_, type, weights, slice.first, slice.last, packed_.data());
    case Kernel::Kind::kPanels:
      return kernels::pack_panels(panels_, plain, slice.first, slice.last,
                                  reinterpret_cast<kernels::Bf16Pair*>(packed_.data()));
    case Kernel::Kind::kDots:
      return kernels::pack_for_dots(dots_, plain, slice.first, slice.last,
                                    reinterpret_cast<Bf16*>(packed_.data()));
  }
}

void PackedMatrix::multiply(const Kernel& kernel, const float* x, float* y, std::uint32_t rows,
                            const Team& team, Workspace& workspace) const {
  switch (kind_) {
    case Kernel::Kind::kGroups:
      return multiply_groups(x, y, rows, team, workspace);
    case Kernel::Kind::kPanels:
      return multiply_panels(kernel.panel->order(panels_.k, rows), x, y, rows, team, workspace);
    case Kernel::Kind::kDots:
      return multiply_dots(x, y, rows, team, workspace);
  }
}

PackedMatrix::Narrowed PackedMatrix::narrowed(const float* x, std::uint64_t count, std::size_t each,
                                              const Team& team, Workspace& workspace) {
  // Below, one thread is done before another has begun.
  constexpr std::uint64_t kWorthTwoThreads = 16384;
  const std::size_t of_x = whole(count * sizeof(Bf16), kPage);
  std::byte* memory = workspace.at_least(of_x + each * team.threads());
  auto* into = reinterpret_cast<Bf16*>(memory);
  const auto narrow = [&](const Slice& slice) {
    for (std::uint64_t i = slice.first; i < slice.last; ++i) into[i] = kernels::narrow(x[i]);
  };
  if (count < kWorthTwoThreads)
    narrow({0, count});
  else
    team.run([&](std::uint32_t index, std::uint32_t threads) {
      narrow(slice_of(count, threads, index));
    });
  return {into, memory + of_x};
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
  const std::size_t each = whole(path.scratch_bytes(panels_.pairs(), rows, order.lanes), kPage);
  const Narrowed narrow = narrowed(x, rows * k, each, team, workspace);
  team.run([&](std::uint32_t index, std::uint32_t count) {
    const Slice slice = slice_of(parts(), count, index);
    if (slice.first == slice.last) return;
    kernels::PanelTask task = kernels::task_in(order);
    task.weights = reinterpret_cast<const kernels::Bf16Pair*>(packed_.data());
    task.x = narrow.x;
    task.wide_y = y;
    task.scratch = narrow.scratch + index * each;
    task.k = k;
    task.n = panels_.n;
    task.rows = rows;
    task.pairs = panels_.pairs();
    task.first_panel = slice.first;
    task.last_panel = slice.last;
    path.run(task);
  });
}

void PackedMatrix::multiply_dots(const float* x, float* y, std::uint64_t rows, const Team& team,
                                 Workspace& workspace) const {
  const kernels::DotKernel kernel = kernels::dot_kernel();
  const Narrowed narrow = narrowed(x, rows * dots_.k, 0, team, workspace);
  team.run([&](std::uint32_t index, std::uint32_t count) {
    const Slice slice = slice_of(parts(), count, index);
    kernel({.shape = dots_,
            .weights = reinterpret_cast<const Bf16*>(packed_.data()),
            .x = narrow.x,
            .y = nullptr,
            .wide_y = y,
            .rows = rows,
            .first_panel = slice.first,
            .last_panel = slice.last});
  });
}

}  // namespace tare::llama
