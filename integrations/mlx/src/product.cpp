#include "product.h"

#include <fmt/format.h>
#include <mlx/ops.h>
#include <mlx/utils.h>

#include <stdexcept>

namespace tare::in_mlx {
namespace {

[[noreturn]] void no_derivative(const char* what) {
  throw std::invalid_argument(fmt::format(
      "tare_mlx: a served product has no {}: call report.restore() before transforming the model.",
      what));
}

// x, or a copy of it. What x is like is known only when it is evaluated; copies are rare.
mx::array row_contiguous(const mx::array& x, const mx::Stream& stream) {
  if (x.flags().row_contiguous) return x;
  mx::array copy = mx::contiguous(x, false, stream);
  std::vector<mx::array> outputs{copy};
  if (stream.device == mx::Device::gpu)
    copy.primitive().eval_gpu(copy.inputs(), outputs);
  else
    copy.primitive().eval_cpu(copy.inputs(), outputs);
  return copy;
}

// Makes `part` the columns of y from `first` on, as mx::slice does.
void view(const mx::array& y, std::int64_t first, mx::array& part) {
  const bool is_one_row = y.size() == static_cast<std::size_t>(y.shape(-1));
  const std::size_t rows = y.size() / static_cast<std::size_t>(y.shape(-1));
  const std::size_t spanned =
      (rows - 1) * static_cast<std::size_t>(y.shape(-1)) + static_cast<std::size_t>(part.shape(-1));
  auto flags = y.flags();
  flags.row_contiguous = flags.contiguous = is_one_row;
  flags.col_contiguous = is_one_row && flags.col_contiguous;
  part.copy_shared_buffer(y, y.strides(), flags, spanned, first);
}

}  // namespace

void Product::eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  evaluate(inputs, outputs);
}

void Product::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  evaluate(inputs, outputs);
}

void Product::evaluate(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  std::vector<mx::array> operands = inputs;
  operands[0] = row_contiguous(inputs[0], stream());
  if (outputs.size() == 1) {
    matrix_->evaluate(operands, outputs[0], stream());
    return;
  }
  mx::Shape shape = inputs[0].shape();
  shape.back() = static_cast<mx::ShapeElem>(matrix_->n());
  mx::array y(shape, mx::bfloat16, nullptr, {});
  matrix_->evaluate(operands, y, stream());
  std::int64_t first = 0;
  for (mx::array& output : outputs) {
    view(y, first, output);
    first += output.shape(-1);
  }
}

std::vector<mx::array> Product::jvp(const std::vector<mx::array>&, const std::vector<mx::array>&,
                                    const std::vector<int>&) {
  no_derivative("derivative");
}

std::vector<mx::array> Product::vjp(const std::vector<mx::array>&, const std::vector<mx::array>&,
                                    const std::vector<int>&, const std::vector<mx::array>&) {
  no_derivative("derivative");
}

std::pair<std::vector<mx::array>, std::vector<int>> Product::vmap(const std::vector<mx::array>&,
                                                                  const std::vector<int>&) {
  no_derivative("vectorised form");
}

bool Product::is_equivalent(const mx::Primitive& other) const {
  const auto* product = dynamic_cast<const Product*>(&other);
  return product != nullptr && product->matrix_ == matrix_ && product->widths_ == widths_;
}

std::vector<mx::Shape> Product::output_shapes(const std::vector<mx::array>& inputs) {
  return shapes_of(inputs[0]);
}

std::vector<mx::Shape> Product::shapes_of(const mx::array& x) const {
  std::vector<mx::Shape> shapes(widths_.size(), x.shape());
  for (std::size_t i = 0; i < widths_.size(); ++i)
    shapes[i].back() = static_cast<mx::ShapeElem>(widths_[i]);
  return shapes;
}

std::vector<mx::array> product(const mx::array& x, std::shared_ptr<const Matrix> matrix,
                               const std::vector<std::uint64_t>& widths,
                               const std::optional<mx::array>& bias) {
  if (x.dtype() != mx::bfloat16 || x.ndim() == 0 ||
      static_cast<std::uint64_t>(x.shape(-1)) != matrix->k())
    throw std::invalid_argument(
        fmt::format("tare_mlx: x must be bf16 with {} columns", matrix->k()));
  if (bias && !matrix->takes_bias())
    throw std::invalid_argument("tare_mlx: this kernel takes no bias");
  std::vector<mx::array> inputs{x};
  for (mx::array& one : matrix->inputs()) inputs.push_back(std::move(one));
  if (bias) inputs.push_back(*bias);
  const auto primitive = std::make_shared<Product>(mx::default_stream(mx::default_device()),
                                                   std::move(matrix), widths);
  return mx::array::make_arrays(primitive->shapes_of(x),
                                std::vector<mx::Dtype>(widths.size(), mx::bfloat16), primitive,
                                inputs);
}

}  // namespace tare::in_mlx
