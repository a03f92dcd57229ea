#include "own_layout.h"

#include <ggml-backend-impl.h>

#include "base/error.h"

namespace tare::llama {
namespace {

template <typename Function>
Function function_of(ggml_backend_dev_t device, const char* name) {
  return reinterpret_cast<Function>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), name));
}

ggml_backend_dev_t processor() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

}  // namespace

// A program that loads a model asks the same, with an empty buffer of that kind.
ggml_backend_buffer_type_t own_layout_for(const ggml_tensor* node) {
  ggml_backend_dev_t cpu = processor();
  if (cpu == nullptr) return nullptr;
  const auto kinds =
      function_of<ggml_backend_dev_get_extra_bufts_t>(cpu, "ggml_backend_dev_get_extra_bufts");
  if (kinds == nullptr) return nullptr;
  for (ggml_backend_buffer_type_t* it = kinds(cpu); it != nullptr && *it != nullptr; ++it) {
    ggml_backend_buffer place{};
    place.buft = *it;
    ggml_tensor weights = *node->src[0];
    weights.buffer = &place;
    ggml_tensor question = *node;
    question.src[0] = &weights;
    if (ggml_backend_dev_supports_op(cpu, &question)) return *it;
  }
  return nullptr;
}

OwnLayout::OwnLayout(ggml_backend_buffer_type_t where, const ggml_tensor* weights)
    : context_(ggml_init({2 * ggml_tensor_overhead(), nullptr, true})) {
  if (!context_) fail(Blame::kMachine, "ggml has no memory for a tensor");
  weights_ = ggml_new_tensor_2d(context_.get(), weights->type, weights->ne[0], weights->ne[1]);
  buffer_.reset(ggml_backend_alloc_ctx_tensors_from_buft(context_.get(), where));
  if (!buffer_)
    fail(Blame::kMachine, "ggml has no memory for another layout of '{}'", weights->name);
  ggml_backend_buffer_set_usage(buffer_.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  ggml_backend_tensor_set(weights_, weights->data, 0, ggml_nbytes(weights));
}

void Engine::set_threads(std::uint32_t threads) {
  threads_ = threads;
  if (!backend_) return;
  const auto set =
      function_of<ggml_backend_set_n_threads_t>(processor(), "ggml_backend_set_n_threads");
  if (set != nullptr) set(backend_.get(), static_cast<int>(threads_));
}

void Engine::start() {
  constexpr std::size_t kNodes = 1;
  backend_.reset(ggml_backend_dev_init(processor(), nullptr));
  context_.reset(ggml_init({ggml_graph_overhead_custom(kNodes, false), nullptr, true}));
  if (!backend_ || !context_) fail(Blame::kMachine, "ggml's processor back end does not start");
  graph_ = ggml_new_graph_custom(context_.get(), kNodes, false);
  set_threads(threads_);
}

ggml_status Engine::run(const ggml_tensor* node, ggml_tensor* weights) {
  if (!backend_) start();
  ggml_tensor own = *node;
  own.src[0] = weights;
  ggml_graph_clear(graph_);
  ggml_graph_add_node(graph_, &own);
  return ggml_backend_graph_compute(backend_.get(), graph_);
}

}  // namespace tare::llama
