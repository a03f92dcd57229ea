// One matrix of a model, packed for Tare's kernels, and its product with f32 activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/paths.h"
#include "kernels/packing.h"
#include "kernels/panel_arms.h"
#include "kernels/panel_projection.h"
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
  const kernels::PanelArm* panel = nullptr;  // of bf16 weights; null: the grouped one, of blocks
};
// Nothing where this back end has no kernel of that arm for weights of that type (tare/arm.h).
std::optional<Kernel> kernel_of(std::string_view arm, std::uint32_t weights);

// y[rows, n] = x[rows, k] . W[n, k]^T, x and y of f32. Of GGUF blocks x is rounded to 8 bits
// inside, of bf16 weights to bf16, both as ggml does. The same bits whatever the team. One packed
// matrix serves all kernels of its type, and all row counts.
class PackedMatrix {
 public:
  // W as the file has it; `weights` is read now and not again. Throws tare::Error (kInput) where
  // the kernels do not know the type.
  PackedMatrix(std::uint32_t type, std::uint64_t k, std::uint64_t n, const void* weights,
               const Team& team);

  // `kernel`: of kernel_of(), with the type of these weights.
  void multiply(const Kernel& kernel, const float* x, float* y, std::uint32_t rows,
                const Team& team, Workspace& workspace) const;

  std::size_t bytes() const { return packed_.bytes(); }

 private:
  void multiply_panels(const kernels::SumOrder& order, const float* x, float* y, std::uint64_t rows,
                       const Team& team, Workspace& workspace) const;
  void multiply_groups(const float* x, float* y, std::uint64_t rows, const Team& team,
                       Workspace& workspace) const;

  bool is_bf16_ = false;
  kernels::PackedShape panels_{};
  kernels::GroupedShape groups_;
  Pages packed_;
};

}  // namespace tare::llama
