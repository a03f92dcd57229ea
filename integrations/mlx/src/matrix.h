// A matrix of a model, packed for the kernel that a plan names, on MLX's side of the fence: whoever
// evaluates y = x . W^T of MLX's arrays on one of MLX's streams.
#pragma once

#include <mlx/array.h>
#include <mlx/stream.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tare/arm.h"

namespace tare::in_mlx {

namespace mx = ::mlx::core;

// What a layer holds. bf16: weight [n, k]. Quantised: weight of packed codes [n, k * bits / 32],
// scales and biases [n, k / group] in bf16, as mlx.core.quantize makes them. All evaluated and
// row-contiguous.
struct Weights {
  std::uint32_t type = 0;  // TARE_BF16, TARE_MLX_INT4_G64, TARE_MLX_INT8_G64
  std::uint64_t k = 0, n = 0;
  mx::array weight;
  std::optional<mx::array> scales, biases;
};

// Thread safe once it is made; never changes.
class Matrix {
 public:
  virtual ~Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  // Arrays that a dispatch reads beside x and that MLX must keep for it.
  virtual std::vector<mx::array> inputs() const { return {}; }
  // Starts y = x . W^T, plus `bias` [n] where there is one, on the stream. Called by MLX while it
  // evaluates: `operands` are x [..., k] in bf16, row-contiguous, kept until the dispatch is done;
  // then inputs(), then the bias.
  // Gives y its memory. Where the bias comes in before the one rounding is the kernel's
  // (takes_bias()).
  virtual void evaluate(const std::vector<mx::array>& operands, mx::array& y,
                        const mx::Stream& stream) const = 0;
  // Whether the sum and a bias are rounded once, as MLX's addmm does. Without it no bias is handed
  // over.
  virtual bool takes_bias() const = 0;

  std::uint64_t k() const { return k_; }
  std::uint64_t n() const { return n_; }
  std::uint64_t bytes() const { return bytes_; }  // that packing took, beside the model's own

 protected:
  Matrix(std::uint64_t k, std::uint64_t n) : k_(k), n_(n) {}
  std::uint64_t k_, n_;
  std::uint64_t bytes_ = 0;
};

// Where the kernels are and what they need: the processor with so many threads, or MLX's GPU.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string library() const = 0;  // of the kernels, as a plan's candidates name it
  // Whether it has the kernel of that arm for weights of that type.
  virtual bool has(const std::string& arm, std::uint32_t type) const = 0;
  // Packs. Throws tare::Error where memory runs out or the shape is not one of the kernel's.
  virtual std::shared_ptr<const Matrix> pack(const std::string& arm, const Weights& weights) = 0;
};

std::shared_ptr<Engine> make_processor_engine(std::uint32_t threads);
// Throws tare::Error where this was built without CUDA, or there is no GPU that its kernels run on.
std::shared_ptr<Engine> make_cuda_engine();
// "NVIDIA H200, driver 590.48.01", as a plan names it; "" where there is none.
std::string cuda_device();

}  // namespace tare::in_mlx
