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

}  // namespace

void Product::eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  matrix_->evaluate(inputs, outputs[0], stream());
}

void Product::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  matrix_->evaluate(inputs, outputs[0], stream());
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
  return product != nullptr && product->matrix_ == matrix_;
}

std::vector<mx::Shape> Product::output_shapes(const std::vector<mx::array>& inputs) {
  mx::Shape shape = inputs[0].shape();
  shape.back() = static_cast<mx::ShapeElem>(matrix_->n());
  return {shape};
}

mx::array product(const mx::array& x, std::shared_ptr<const Matrix> matrix,
                  const std::optional<mx::array>& bias) {
  if (x.dtype() != mx::bfloat16 || x.ndim() == 0 ||
      static_cast<std::uint64_t>(x.shape(-1)) != matrix->k())
    throw std::invalid_argument(
        fmt::format("tare_mlx: x must be bf16 with {} columns", matrix->k()));
  if (bias && !matrix->takes_bias())
    throw std::invalid_argument("tare_mlx: this kernel takes no bias");
  const mx::Stream stream = mx::default_stream(mx::default_device());
  std::vector<mx::array> inputs{mx::contiguous(x, false, stream)};
  for (mx::array& one : matrix->inputs()) inputs.push_back(std::move(one));
  if (bias) inputs.push_back(mx::contiguous(*bias, false, stream));
  mx::Shape shape = x.shape();
  shape.back() = static_cast<mx::ShapeElem>(matrix->n());
  return mx::array(shape, mx::bfloat16, std::make_shared<Product>(stream, std::move(matrix)),
                   std::move(inputs));
}

}  // namespace tare::in_mlx
