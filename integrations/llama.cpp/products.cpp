#include "products.h"

#include "formats/weight_format.h"
#include "problem/problem.h"

namespace tare::llama {
namespace {

bool is_plain(const ggml_tensor* tensor) {
  return tensor != nullptr && tensor->ne[2] == 1 && tensor->ne[3] == 1 &&
         ggml_is_contiguous(tensor);
}

}  // namespace

std::uint32_t type_of(ggml_type type) {
  switch (type) {
    case GGML_TYPE_BF16:
      return TARE_BF16;
    case GGML_TYPE_Q8_0:
      return TARE_GGUF_Q8_0;
    case GGML_TYPE_Q4_0:
      return TARE_GGUF_Q4_0;
    case GGML_TYPE_Q5_0:
      return TARE_GGUF_Q5_0;
    case GGML_TYPE_Q4_K:
      return TARE_GGUF_Q4_K;
    case GGML_TYPE_Q6_K:
      return TARE_GGUF_Q6_K;
    default:
      return 0;
  }
}

std::optional<tare_problem> matrix_of(const ggml_tensor* weights) {
  const std::uint32_t type = weights == nullptr ? 0 : type_of(weights->type);
  if (type == 0 || !is_plain(weights)) return std::nullopt;
  return tare_problem{.k = static_cast<std::uint64_t>(weights->ne[0]),
                      .n = static_cast<std::uint64_t>(weights->ne[1]),
                      .rows = 1,
                      .weights = type,
                      .activations = problem::usual_activations(type),
                      .output = TARE_BF16,
                      .accumulator = TARE_F32,
                      .bias = 0};
}

// What was weighed has bf16 activations and outputs (tare/arm.h); ggml's are f32, and so are those
// of the kernels in here: one rounding less, and the same time (docs/serve-in-llama-cpp.md).
std::optional<tare_problem> problem_of(const ggml_tensor* node) {
  const ggml_tensor* x = node->src[1];
  if (node->op != GGML_OP_MUL_MAT || !is_plain(node) || !is_plain(x)) return std::nullopt;
  if (x->type != GGML_TYPE_F32 || node->type != GGML_TYPE_F32) return std::nullopt;
  if (node->op_params[1] == GGML_HINT_SRC0_IS_HADAMARD) return std::nullopt;
  std::optional<tare_problem> problem = matrix_of(node->src[0]);
  if (problem) problem->rows = static_cast<std::uint32_t>(x->ne[1]);
  return problem;
}

}  // namespace tare::llama
