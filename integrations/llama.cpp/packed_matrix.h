// One matrix of a model, packed for Tare's kernels, and its product with f32 activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/paths.h"
#include "kernels/dot.h"
#include "kernels/packing.h"
#include "kernels/panel_arms.h"
#include "kernels/panel_projection.h"
#include "kernels/thread_pool.h"
#include "team.h"

namespace tare::llama {

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};

// Memory on huge pages, 64-byte aligned; as in the arm host that weighed (DESIGN.md), where the
// system gives them.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);  // throws std::bad_alloc
  std::byte* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte, Unmap> memory_;
  std::size_t bytes_ = 0;
};

// What a product needs beside its matrix; grows, and is kept from one to the next. One thread at a
// time.
class Workspace {
 public:
  std::byte* at_least(std::size_t bytes);

 private:
  Pages pages_;
};

// Which kernel a plan asks for: that of the arm which was weighed.
struct Kernel {
  enum class Kind { kGroups, kPanels, kDots };  // of blocks; of bf16 weights
  Kind kind = Kind::kGroups;
  const kernels::PanelArm* panel = nullptr;  // of kPanels
};
// Nothing where this back end has no kernel of that arm for weights of that type (tare/arm.h).
std::optional<Kernel> kernel_of(std::string_view arm, std::uint32_t weights);

// y[rows, n] = x[rows, k] . W[n, k]^T, x and y of f32. Of GGUF blocks x is rounded to 8 bits
// inside, of bf16 weights to bf16, both as ggml does. The same bits whatever the team. One packed
// matrix serves all kernels of its kind, and all row counts.
class PackedMatrix {
 public:
  // W as the file has it; `weights` is read now and not again. Throws tare::Error (kInput) where
  // the kernels do not know the type.
  PackedMatrix(Kernel::Kind kind, std::uint32_t type, std::uint64_t k, std::uint64_t n,
               const void* weights, const Team& team);

  // `kernel`: of kernel_of(), of the kind that this was packed for.
  void multiply(const Kernel& kernel, const float* x, float* y, std::uint32_t rows,
                const Team& team, Workspace& workspace) const;

  std::size_t bytes() const { return packed_.bytes(); }

 private:
  void multiply_panels(const kernels::SumOrder& order, const float* x, float* y, std::uint64_t rows,
                       const Team& team, Workspace& workspace) const;
  void multiply_groups(const float* x, float* y, std::uint64_t rows, const Team& team,
                       Workspace& workspace) const;

  using Slice = kernels::Slice;
  std::uint64_t parts() const;  // that threads divide among themselves
  void pack(std::uint32_t type, const void* weights, const Slice& slice);
  // x as bf16, at the beginning of a workspace that has `each` bytes for every thread behind it.
  struct Narrowed {
    const kernels::Bf16* x;
    std::byte* scratch;
  };
  static Narrowed narrowed(const float* x, std::uint64_t count, std::size_t each, const Team& team,
                           Workspace& workspace);
  void multiply_dots(const float* x, float* y, std::uint64_t rows, const Team& team,
                     Workspace& workspace) const;

  Kernel::Kind kind_;
  kernels::PackedShape panels_{};
  kernels::DotShape dots_{};
  kernels::GroupedShape groups_;
  Pages packed_;
};

}  // namespace tare::llama
