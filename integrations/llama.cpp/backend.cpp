// libggml-tare.so: a ggml back end that runs the matrix products which a plan serves, and leaves
// all others to ggml. Loaded by an unmodified program through GGML_BACKEND_PATH;
// docs/serve-in-llama-cpp.md.
//
// It is an accelerator of the host's memory, as ggml's own BLAS back end is: tensors stay where
// they are, and ggml's scheduler hands over the nodes that supports_op() takes.
#include <fmt/format.h>
#include <ggml-backend-impl.h>
#include <ggml-backend.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "matrices.h"
#include "own_layout.h"
#include "products.h"
#include "session.h"

namespace tare::llama {
namespace {

// Of this process: ggml registers a back end once, and its tables carry no owner.
Session& session() {
  static Session it;
  return it;
}

// One ggml back end: one caller at a time, as ggml has it.
struct Stream {
  Team team;
  Workspace workspace;
  Engine engine;

  void set_threads(std::uint32_t threads) {
    team = Team(threads);
    engine.set_threads(threads);
  }
};

Stream& stream_of(ggml_backend_t backend) {
  return *static_cast<Stream*>(backend->context);
}

// ---- what is taken -----------------------------------------------------------------------------

// A program that loads a model asks, with an empty buffer, where a matrix should lie.
bool is_question_of_a_loader(const ggml_tensor* node) {
  const ggml_backend_buffer* buffer = node->src[0]->buffer;
  return is_ours(buffer) && buffer->size == 0;
}

bool is_a_models(const ggml_tensor* weights) {
  return weights->buffer != nullptr && weights->buffer->usage == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

std::string matrix_name(const ggml_tensor* weights) {
  return fmt::format("{}:{}x{}", weights->name, weights->ne[0], weights->ne[1]);
}

// Why a product is not served; "": it is.
std::string reason_to_leave(const ggml_tensor* node, const tare_problem& problem) {
  const ggml_backend_buffer* buffer = node->src[0]->buffer;
  if (!session().kernel_for(problem)) return session().refusal(problem);
  if (buffer != nullptr && !is_ours(buffer))
    return "it lies where ggml put it: " +
           std::string(ggml_backend_buffer_name(node->src[0]->buffer));
  return "";
}

// What the plan does not serve runs where it would have run without us: by ggml's back end out of
// our buffer, or, where ggml would have given the matrix a layout of its own, in that; then the
// product is taken here, and handed over.
bool is_handed_over(const ggml_tensor* node) {
  const ggml_tensor* weights = node->src[0];
  return is_ours(weights->buffer) && is_a_models(weights) && own_layout_for(node) != nullptr;
}

bool takes(const ggml_tensor* node) {
  const std::optional<tare_problem> problem = problem_of(node);
  if (is_question_of_a_loader(node)) return problem && session().serves_some_rows(*problem);
  if (problem) {
    const std::string why = reason_to_leave(node, *problem);
    if (why.empty()) return true;
    const ggml_tensor* weights = node->src[0];
    if (is_a_models(weights)) session().ledger().left(matrix_name(weights), text_of(*problem), why);
  }
  return is_handed_over(node);
}

bool supports_op(ggml_backend_dev_t, const ggml_tensor* node) {
  switch (node->op) {
    case GGML_OP_NONE:
    case GGML_OP_RESHAPE:
    case GGML_OP_VIEW:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
      return true;
    default:
      break;
  }
  try {
    return node->op == GGML_OP_MUL_MAT && takes(node);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: left to ggml: {}\n", error.what());
    return false;
  }
}

// ---- running it --------------------------------------------------------------------------------

std::shared_ptr<const PackedMatrix> packed(Kernel::Kind kind, const ggml_tensor* weights,
                                           const Team& team) {
  if (is_ours(weights->buffer) && is_a_models(weights))
    return matrices_in(weights->buffer).packed(kind, weights, team, session().ledger());
  return packed_matrix(kind, weights, team);
}

void serve(Stream& stream, const ggml_tensor* node, const tare_problem& problem,
           const Kernel& kernel) {
  packed(kernel.kind, node->src[0], stream.team)
      ->multiply(kernel, static_cast<const float*>(node->src[1]->data),
                 static_cast<float*>(node->data), problem.rows, stream.team, stream.workspace);
  session().ledger().served(problem);
}

// Also what was taken before ggml told with how many threads it runs, and is not served with those.
ggml_status hand_over(Stream& stream, const ggml_tensor* node) {
  ggml_tensor* weights = node->src[0];
  if (!is_handed_over(node)) return stream.engine.run(node, weights);
  const auto matrix =
      matrices_in(weights->buffer).own_layout(weights, own_layout_for(node), session().ledger());
  return stream.engine.run(node, matrix->weights());
}

ggml_status multiply(Stream& stream, const ggml_tensor* node) {
  const std::optional<tare_problem> problem = problem_of(node);
  const std::optional<Kernel> kernel = problem ? session().kernel_for(*problem) : std::nullopt;
  if (!kernel) return hand_over(stream, node);
  serve(stream, node, *problem, *kernel);
  return GGML_STATUS_SUCCESS;
}

ggml_status graph_compute(ggml_backend_t backend, ggml_cgraph* graph) {
  try {
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
      const ggml_tensor* node = ggml_graph_node(graph, i);
      if (node->op != GGML_OP_MUL_MAT || (node->flags & GGML_TENSOR_FLAG_COMPUTE) == 0) continue;
      const ggml_status status = multiply(stream_of(backend), node);
      if (status != GGML_STATUS_SUCCESS) return status;
    }
    return GGML_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tare: no memory to pack a matrix; leave it out of the plan\n");
    return GGML_STATUS_ALLOC_FAILED;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: a product failed: {}\n", error.what());
    return GGML_STATUS_FAILED;
  }
}

void set_threads(ggml_backend_t backend, int threads) {
  const auto count = static_cast<std::uint32_t>(threads < 1 ? 1 : threads);
  stream_of(backend).set_threads(count);
  session().set_threads(count);
}

ggml_backend_t init_backend(ggml_backend_dev_t device, const char*) {
  static ggml_guid guid{'t', 'a', 'r', 'e', ' ', 's', 'e', 'r',
                        'v', 'e', 's', ' ', 'g', 'g', 'm', 'l'};
  auto stream = std::make_unique<Stream>();
  stream->set_threads(static_cast<std::uint32_t>(omp_get_max_threads()));
  ggml_backend_i interface {};
  interface.get_name = [](ggml_backend_t) { return "Tare"; };
  interface.free = [](ggml_backend_t backend) {
    delete &stream_of(backend);
    delete backend;
  };
  interface.graph_compute = graph_compute;
  return new ggml_backend{&guid, interface, device, stream.release()};
}

// ---- ggml's tables -----------------------------------------------------------------------------

void get_props(ggml_backend_dev_t device, ggml_backend_dev_props* props) {
  *props = {};
  props->name = ggml_backend_dev_name(device);
  props->description = ggml_backend_dev_description(device);
  props->type = GGML_BACKEND_DEVICE_TYPE_ACCEL;
  props->caps.buffer_from_host_ptr = true;
  props->caps.mmap_support = true;
}

ggml_backend_device_i device_interface() {
  ggml_backend_device_i interface {};
  interface.get_name = [](ggml_backend_dev_t) { return "Tare"; };
  interface.get_description = [](ggml_backend_dev_t) { return "what a plan serves"; };
  interface.get_memory = [](ggml_backend_dev_t, std::size_t* free, std::size_t* total) {
    *free = *total = 0;  // the host's, which its own device reports
  };
  interface.get_type = [](ggml_backend_dev_t) { return GGML_BACKEND_DEVICE_TYPE_ACCEL; };
  interface.get_props = get_props;
  interface.init_backend = init_backend;
  interface.get_buffer_type = buffer_type;
  interface.buffer_from_host_ptr = [](ggml_backend_dev_t device, void* memory, std::size_t bytes,
                                      std::size_t) {
    return buffer_around(buffer_type(device), memory, bytes);
  };
  interface.supports_op = supports_op;
  interface.supports_buft = [](ggml_backend_dev_t, ggml_backend_buffer_type_t type) {
    return ggml_backend_buft_is_host(type);
  };
  return interface;
}

ggml_backend_dev_t device_of(ggml_backend_reg_t registry) {
  static ggml_backend_device device{device_interface(), registry, nullptr};
  return &device;
}

ggml_backend_reg_t registry() {
  ggml_backend_reg_i interface {};
  interface.get_name = [](ggml_backend_reg_t) { return "Tare"; };
  interface.get_device_count = [](ggml_backend_reg_t) { return std::size_t{1}; };
  interface.get_device = [](ggml_backend_reg_t own, std::size_t) { return device_of(own); };
  interface.get_proc_address = [](ggml_backend_reg_t, const char* name) -> void* {
    const bool known = std::string_view(name) == "ggml_backend_set_n_threads";
    return known ? reinterpret_cast<void*>(set_threads) : nullptr;
  };
  static ggml_backend_reg it{GGML_BACKEND_API_VERSION, interface, nullptr};
  session();  // reads the plan, and says what will be done
  return &it;
}

}  // namespace
}  // namespace tare::llama

extern "C" __attribute__((visibility("default"))) ggml_backend_reg_t ggml_backend_init() {
  return tare::llama::registry();
}
