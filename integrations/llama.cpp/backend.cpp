// libggml-tare.so: a ggml back end that runs the matrix products which a plan serves, and nothing
// else. Loaded by an unmodified program through GGML_BACKEND_PATH; docs/serve-in-llama-cpp.md.
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
};

Stream& stream_of(ggml_backend_t backend) {
  return *static_cast<Stream*>(backend->context);
}

// ---- what is taken -----------------------------------------------------------------------------

// ggml keeps some types in a layout of its own, for all row counts. Taking such a matrix would take
// that layout away from the row counts that are not served, so it is left.
bool has_layout_of_ggml(const ggml_tensor* node) {
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (cpu == nullptr) return false;
  const auto extra =
      reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_dev_backend_reg(cpu), "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return false;
  for (ggml_backend_buffer_type_t* it = extra(cpu); it != nullptr && *it != nullptr; ++it) {
    ggml_backend_buffer place{};
    place.buft = *it;
    ggml_tensor weights = *node->src[0];
    weights.buffer = &place;
    ggml_tensor question = *node;
    question.src[0] = &weights;
    if (ggml_backend_dev_supports_op(cpu, &question)) return true;
  }
  return false;
}

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

bool takes_matrix(const ggml_tensor* node, const tare_problem& problem) {
  if (!session().serves_some_rows(problem)) return false;
  if (!has_layout_of_ggml(node)) return true;
  session().ledger().left(matrix_name(node->src[0]), text_of(problem),
                          "ggml keeps it in a layout of its own");
  return false;
}

bool takes_product(const ggml_tensor* node, const tare_problem& problem) {
  const ggml_tensor* weights = node->src[0];
  std::optional<std::string> why = session().refusal(problem);
  if (!why && weights->buffer != nullptr && !is_ours(weights->buffer))
    why = "it lies where ggml put it: " + std::string(ggml_backend_buffer_name(weights->buffer));
  if (!why) return true;
  if (is_a_models(weights)) session().ledger().left(matrix_name(weights), text_of(problem), *why);
  return false;
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
    const std::optional<tare_problem> problem = problem_of(node);
    if (!problem) return false;
    return is_question_of_a_loader(node) ? takes_matrix(node, *problem)
                                         : takes_product(node, *problem);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: left to ggml: {}\n", error.what());
    return false;
  }
}

// ---- running it --------------------------------------------------------------------------------

void multiply(Stream& stream, const ggml_tensor* node) {
  const ggml_tensor* weights = node->src[0];
  const tare_problem problem = problem_of(node).value();
  std::shared_ptr<const PackedMatrix> matrix;
  if (is_ours(weights->buffer) && is_a_models(weights))
    matrix = matrices_in(weights->buffer).of(weights, stream.team, session().ledger());
  else
    matrix = std::make_shared<PackedMatrix>(problem.weights, problem.k, problem.n, weights->data,
                                            stream.team);
  matrix->multiply(static_cast<const float*>(node->src[1]->data), static_cast<float*>(node->data),
                   problem.rows, stream.team, stream.workspace);
  session().ledger().served(problem);
}

ggml_status graph_compute(ggml_backend_t backend, ggml_cgraph* graph) {
  try {
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
      const ggml_tensor* node = ggml_graph_node(graph, i);
      if (node->op == GGML_OP_MUL_MAT && (node->flags & GGML_TENSOR_FLAG_COMPUTE) != 0)
        multiply(stream_of(backend), node);
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
  stream_of(backend).team = Team(count);
  session().set_threads(count);
}

ggml_backend_t init_backend(ggml_backend_dev_t device, const char*) {
  static ggml_guid guid{'t', 'a', 'r', 'e', ' ', 's', 'e', 'r',
                        'v', 'e', 's', ' ', 'g', 'g', 'm', 'l'};
  auto stream = std::make_unique<Stream>();
  stream->team = Team(static_cast<std::uint32_t>(omp_get_max_threads()));
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
