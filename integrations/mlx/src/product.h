// y = x . W^T (+ bias) as a primitive of MLX: lazy, on MLX's streams, within mx.compile. One
// primitive, whatever x and however many layers: MLX's host pays some microseconds for each
// operation of a graph, which is what a decoding GPU waits for (docs/serve-in-mlx.md).
#pragma once

#include <mlx/array.h>
#include <mlx/primitives.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "matrix.h"

namespace tare::in_mlx {

class Product final : public mx::Primitive {
 public:
  // `widths`: columns of y in each of the outputs, side by side; together matrix->n().
  Product(mx::Stream stream, std::shared_ptr<const Matrix> matrix,
          std::vector<std::uint64_t> widths)
      : Primitive(stream), matrix_(std::move(matrix)), widths_(std::move(widths)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  void eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  // A plan is for forward passes: derivatives throw std::invalid_argument with a sentence.
  std::vector<mx::array> jvp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& tangents,
                             const std::vector<int>& arguments) override;
  std::vector<mx::array> vjp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& cotangents,
                             const std::vector<int>& arguments,
                             const std::vector<mx::array>& outputs) override;
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override;
  const char* name() const override { return "TareProduct"; }
  bool is_equivalent(const mx::Primitive& other) const override;
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override;

  std::vector<mx::Shape> shapes_of(const mx::array& x) const;

 private:
  void evaluate(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs);

  std::shared_ptr<const Matrix> matrix_;
  std::vector<std::uint64_t> widths_;
};

// The lazy arrays of that product, on the stream that a product of MLX's own would run on now:
// where there are several widths, views of one y. x [..., k] in bf16; `bias` [n], row-contiguous,
// only where the matrix takes one. Throws std::invalid_argument otherwise.
std::vector<mx::array> product(const mx::array& x, std::shared_ptr<const Matrix> matrix,
                               const std::vector<std::uint64_t>& widths,
                               const std::optional<mx::array>& bias);

}  // namespace tare::in_mlx
