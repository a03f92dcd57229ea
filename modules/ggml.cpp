// ggml's CPU backend, as llama.cpp uses it: mul_mat of bf16, f16 or f32 weights, or of GGUF blocks,
// whose kernels round activations to 8 bits (TARE_BF16_AS_INT8). Of f16 weights it rounds x to f16,
// which changes no bf16 value from 2^-14 to 65504. Weights are read in place ("ggml"), or,
// where ggml has a layout of its own for a type and this processor, in that ("ggml-repack"):
// llama.cpp repacks when a model is loaded.
//
// Of bf16: ggml sums into f32 and returns f32, so this arm rounds y to bf16 itself (ggml's
// own row conversion), inside the dispatch: a matched output type is part of the problem.
// Activations go in as bf16: that is the type ggml's bf16 dot product takes (its vec_dot_type).
// Given f32, ggml first converts them to bf16 in a work buffer; the f32 sums were the same bits (0
// differing at k x n = 1536x1536, 1536x256, 4096x4096 and 257x67, rows 1, 2, 3, 8, 32), for up to
// 10 % more time on small shapes.
//
// OpenMP or ggml's own threads is a choice of ggml's build. On 2 threads, cold weights, a noisy
// machine, OpenMP was as fast or faster: least times of 217 and 301 us at 1536x1536 with 1 row,
// 1171 and 1520 us with 32, 39 and 48 us at 1536x256.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arm_table.h"
#include "formats/decode.h"
#include "module_support.h"

namespace {

using tare::Blame;
using tare::fail;
using tare::modules::fenced;
using tare::modules::HostMemory;

using Pool = std::unique_ptr<ggml_threadpool, decltype(&ggml_threadpool_free)>;
using Context = std::unique_ptr<ggml_context, decltype(&ggml_free)>;
using Buffer = std::unique_ptr<ggml_backend_buffer, decltype(&ggml_backend_buffer_free)>;

// ggml's number of a weight type that its mul_mat takes; GGML_TYPE_COUNT for others.
ggml_type type_of(std::uint32_t weights) {
  switch (weights) {
    case TARE_BF16:
      return GGML_TYPE_BF16;
    case TARE_F16:
      return GGML_TYPE_F16;
    case TARE_F32:
      return GGML_TYPE_F32;
    case TARE_GGUF_Q8_0:
      return GGML_TYPE_Q8_0;
    case TARE_GGUF_Q4_0:
      return GGML_TYPE_Q4_0;
    case TARE_GGUF_Q5_0:
      return GGML_TYPE_Q5_0;
    case TARE_GGUF_Q4_K:
      return GGML_TYPE_Q4_K;
    case TARE_GGUF_Q6_K:
      return GGML_TYPE_Q6_K;
    default:
      return GGML_TYPE_COUNT;
  }
}

bool is_plain(ggml_type type) {
  return type == GGML_TYPE_BF16 || type == GGML_TYPE_F16 || type == GGML_TYPE_F32;
}

// The buffer type whose tensors ggml keeps in a layout of its own; null where it was built without.
ggml_backend_buffer_type_t repacking() {
  ggml_backend_dev_t device = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
  const auto extra =
      reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return nullptr;
  for (ggml_backend_buffer_type_t* it = extra(device); it != nullptr && *it != nullptr; ++it)
    if (std::string_view(ggml_backend_buft_name(*it)).find("REPACK") != std::string_view::npos)
      return *it;
  return nullptr;
}

// W[n, k] in ggml's own layout.
class Repacked {
 public:
  Repacked(ggml_type type, std::uint64_t k, std::uint64_t n)
      : context_(ggml_init({2 * ggml_tensor_overhead(), nullptr, true}), ggml_free),
        buffer_(nullptr, ggml_backend_buffer_free) {
    ggml_backend_buffer_type_t where = repacking();
    if (where == nullptr) fail(Blame::kArm, "this ggml was built without repacking");
    if (!context_) fail(Blame::kMachine, "ggml_init found no memory for a tensor");
    weights_ = ggml_new_tensor_2d(context_.get(), type, static_cast<std::int64_t>(k),
                                  static_cast<std::int64_t>(n));
    buffer_.reset(ggml_backend_alloc_ctx_tensors_from_buft(context_.get(), where));
    if (!buffer_) fail(Blame::kMachine, "ggml has no memory for weights of {}x{}", k, n);
    if (weights_->extra == nullptr) {
      fail(Blame::kArm, "ggml has no layout of its own for {} weights of {} outputs here",
           ggml_type_name(type), n);
    }
  }
  void fill(const void* weights) {
    ggml_backend_tensor_set(weights_, weights, 0, ggml_nbytes(weights_));
  }
  ggml_tensor* weights() const { return weights_; }

 private:
  Context context_;
  Buffer buffer_;
  ggml_tensor* weights_ = nullptr;
};

Pool new_pool(std::uint32_t threads) {
  ggml_threadpool_params parameters = ggml_threadpool_params_default(static_cast<int>(threads));
  return Pool(ggml_threadpool_new(&parameters), ggml_threadpool_free);
}

// The ABI gives supports() and prepare() no context, so what open() learned is kept for the
// process.
struct Library {
  const tare_services* services = nullptr;
  // Kept for the process, or every dispatch would make and free one. A ggml built with OpenMP only
  // keeps its per-graph state in it and runs on OpenMP's threads.
  Pool pool{nullptr, ggml_threadpool_free};
};
Library& library() {
  static Library it;
  return it;
}

// The value of one build feature of the CPU backend ("AVX512_BF16", "LLAMAFILE", "OPENMP" ...), ""
// when absent.
std::string feature(std::string_view name) {
  const auto get = reinterpret_cast<ggml_backend_get_features_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_get_features"));
  if (get == nullptr) return "";
  for (const ggml_backend_feature* it = get(ggml_backend_cpu_reg()); it->name != nullptr; ++it) {
    if (name == it->name) return it->value;
  }
  return "";
}

std::string_view isa_text() {
  if (ggml_cpu_has_avx512_bf16()) return "AVX-512 BF16";
  if (ggml_cpu_has_avx512()) return "AVX-512";
  if (ggml_cpu_has_avx2()) return "AVX2";
  if (ggml_cpu_has_avx()) return "AVX";
  return "baseline";
}

// ggml does not tell which of its two bf16 kernels ran; this is its own rule (ggml 0.25,
// llamafile_sgemm and tinyBLAS::matmul): the tile kernel from 2 rows on, for whole vectors of k and
// whole quads of outputs.
std::string kernel_text(const tare_problem& problem, bool repacked) {
  const ggml_type type = type_of(problem.weights);
  if (type != GGML_TYPE_BF16) {
    const ggml_type with = ggml_get_type_traits_cpu(type)->vec_dot_type;
    return fmt::format("mul_mat: {} x {}{}", ggml_type_name(type), ggml_type_name(with),
                       repacked ? ", repacked" : "");
  }
  const std::uint64_t vector = ggml_cpu_has_avx512_bf16() ? 32 : ggml_cpu_has_avx512() ? 16 : 8;
  const bool tiles = !feature("LLAMAFILE").empty() && ggml_cpu_has_avx2() && problem.rows >= 2 &&
                     problem.k % vector == 0 && problem.n % 4 == 0;
  return tiles ? "mul_mat: tinyBLAS bf16" : "mul_mat: vec_dot_bf16";
}

// One graph for one row count: the product, and behind it, as llama.cpp has it, the addition of a
// bias, which ggml takes in f32 only (a model's file holds it so). Slots and dispatches differ in
// the data pointers only, repacked slots in the tensor of weights: `packed` is that of any of them,
// or null.
struct Graph {
  Graph(const tare_problem& problem, ggml_tensor* packed)
      : context(ggml_init({ggml_tensor_overhead() * 6 + ggml_graph_overhead_custom(4, false) + 256,
                           nullptr, true}),
                ggml_free) {
    if (!context) fail(Blame::kMachine, "ggml_init found no memory for a graph of one node");
    const auto k = static_cast<std::int64_t>(problem.k);
    const ggml_type type = type_of(problem.weights);
    weights = packed != nullptr ? packed
                                : ggml_new_tensor_2d(context.get(), type, k,
                                                     static_cast<std::int64_t>(problem.n));
    // What rounds to 8 bits takes f32 only; f16 and f32 weights take what llama.cpp gives them.
    x = ggml_new_tensor_2d(context.get(), type == GGML_TYPE_BF16 ? type : GGML_TYPE_F32, k,
                           static_cast<std::int64_t>(problem.rows));
    y = ggml_mul_mat(context.get(), weights, x);
    nodes = ggml_new_graph_custom(context.get(), 4, false);
    if (problem.bias != 0) {
      bias = ggml_new_tensor_1d(context.get(), GGML_TYPE_F32, static_cast<std::int64_t>(problem.n));
      biased = ggml_add_inplace(context.get(), y, bias);
    }
    ggml_build_forward_expand(nodes, biased != nullptr ? biased : y);
  }

  Context context;
  ggml_tensor* weights = nullptr;
  ggml_tensor* x = nullptr;
  ggml_tensor* y = nullptr;
  ggml_tensor* bias = nullptr;    // null: none
  ggml_tensor* biased = nullptr;  // y, in its own place
  ggml_cgraph* nodes = nullptr;
};

// A graph with its plan and memory: everything that depends on the row count.
struct Prepared {
  Prepared(const tare_problem& problem, ggml_tensor* packed)
      : graph(problem, packed),
        plan(ggml_graph_plan(graph.nodes, static_cast<int>(library().services->threads),
                             library().pool.get())),
        sums(*library().services, tare::modules::bytes_of(problem.n, problem.rows, sizeof(float))) {
    if (plan.work_size > 0) work = HostMemory(*library().services, plan.work_size);
    plan.work_data = static_cast<std::uint8_t*>(work.data());
    graph.y->data = sums.data();
    if (graph.biased != nullptr) graph.biased->data = sums.data();
    if (graph.x->type != GGML_TYPE_F32 || tare::modules::has_f32_values(problem)) return;
    wide_x = HostMemory(*library().services,
                        tare::modules::bytes_of(problem.k, problem.rows, sizeof(float)));
    graph.x->data = wide_x.data();
  }

  Graph graph;
  ggml_cplan plan;
  HostMemory work;
  HostMemory sums;    // y in f32
  HostMemory wide_x;  // x in f32, where ggml takes no bf16
};

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots_, bool repacks)
      : problem(problem_), slots(slots_), biases(slots_) {
    if (repacks) repacked.resize(slots_);
    set_rows(problem.rows);
  }

  void bind(std::uint32_t slot, const void* weights) {
    slots.at(slot) = weights;
    biases.at(slot) = tare::formats::bias_of(problem, weights);
    if (!repacked.empty()) packed(slot).fill(weights);
  }

  Repacked& packed(std::uint32_t slot) {
    std::unique_ptr<Repacked>& one = repacked.at(slot);
    if (!one) one = std::make_unique<Repacked>(type_of(problem.weights), problem.k, problem.n);
    return *one;
  }

  void set_rows(std::uint32_t rows) {
    tare_problem next = problem;
    next.rows = rows;
    prepared = std::make_unique<Prepared>(next, repacked.empty() ? nullptr : packed(0).weights());
    problem = next;
  }

  // The timed path: three pointers, the graph, and the rounding of y.
  bool enqueue(std::uint32_t slot, const void* activations, void* output) noexcept {
    if (slot >= slots.size() || slots[slot] == nullptr) return false;
    Graph& graph = prepared->graph;
    if (graph.bias != nullptr) graph.bias->data = biases[slot].data();
    if (repacked.empty()) {
      graph.weights->data = const_cast<void*>(slots[slot]);
    } else {
      graph.y->src[0] = repacked[slot]->weights();
    }
    if (tare::modules::has_f32_values(problem)) {
      graph.x->data = const_cast<void*>(activations);
      graph.y->data = output;
      return ggml_graph_compute(graph.nodes, &prepared->plan) == GGML_STATUS_SUCCESS;
    }
    if (graph.x->type == GGML_TYPE_F32) {
      ggml_cpu_bf16_to_fp32(static_cast<const ggml_bf16_t*>(activations),
                            static_cast<float*>(graph.x->data), ggml_nelements(graph.x));
    } else {
      graph.x->data = const_cast<void*>(activations);
    }
    if (ggml_graph_compute(graph.nodes, &prepared->plan) != GGML_STATUS_SUCCESS) return false;
    ggml_cpu_fp32_to_bf16(static_cast<const float*>(prepared->sums.data()),
                          static_cast<ggml_bf16_t*>(output), ggml_nelements(graph.y));
    return true;
  }

  bool fence() noexcept { return true; }  // ggml_graph_compute returns when the work is done

  void describe(tare_dispatch_record& record) const {
    const bool openmp = !feature("OPENMP").empty();
    const std::string configuration = fmt::format(
        "weights {}; {}; {}{}{}", repacked.empty() ? "in place" : "in ggml's own layout",
        values_text(), problem.bias == 0 ? "" : "bias added by a node of its own; ",
        openmp ? "OpenMP" : "ggml's own threads",
        feature("LLAMAFILE").empty() ? "; built without LLAMAFILE" : ", LLAMAFILE");
    const std::string name = fmt::format("ggml {} ({})", ggml_version(), ggml_commit());
    tare::modules::fill(record,
                        {kernel_text(problem, !repacked.empty()), isa_text(), configuration, name},
                        static_cast<std::uint32_t>(prepared->plan.n_threads));
  }

  std::string_view values_text() const {
    if (tare::modules::has_f32_values(problem)) return "x and y f32";
    return prepared->graph.x->type == GGML_TYPE_F32
               ? "x made f32 and y f32, rounded to bf16, by this arm"
               : "x bf16; y f32, rounded to bf16 by this arm";
  }

  tare_problem problem;
  std::vector<const void*> slots;
  std::vector<std::vector<float>> biases;           // of the slots; empty: none
  std::vector<std::unique_ptr<Repacked>> repacked;  // empty: weights are read in place
  std::unique_ptr<Prepared> prepared;
};

namespace {

int open_library(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    ggml_cpu_init();
    library().services = services;
    library().pool = new_pool(services->threads);
    if (!library().pool) {
      fail(Blame::kMachine, "ggml could not start {} threads", services->threads);
    }
  });
}

// ggml's kernels count with int in places.
constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();

void require_supported(const tare_problem& problem) {
  const ggml_type type = type_of(problem.weights);
  // Of f16 weights ggml rounds x to f16 by itself, and of bf16 ones to bf16: other problems.
  if (tare::modules::is_all_f32(problem))
    return tare::modules::require_sizes(problem, "ggml", kMost);
  if (is_plain(type) || type == GGML_TYPE_COUNT)
    return tare::modules::require_plain(problem, "ggml", {TARE_BF16, TARE_F16, TARE_F32}, kMost,
                                        tare::modules::kAnyBias);
  tare::modules::require_common(problem, "ggml", kMost, tare::modules::kAnyBias);
  if (problem.activations != TARE_BF16_AS_INT8) {
    fail(Blame::kArm, "ggml rounds activations to 8 bits for {} weights; the problem has {}",
         ggml_type_name(type), tare::modules::type_name(problem.activations));
  }
}

// Whether ggml repacks depends on the type and the outputs' divisors.
void require_repacked(const tare_problem& problem) {
  constexpr std::uint64_t kWidest = 64;
  const ggml_type type = type_of(problem.weights);
  if (type == GGML_TYPE_COUNT || is_plain(type))
    fail(Blame::kArm, "ggml has no layout of its own for {} weights",
         tare::modules::type_name(problem.weights));
  require_supported(problem);
  Repacked(type, 256, kWidest + problem.n % kWidest);
}

int supports_in_place(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_supported(*problem); });
}
int supports_repacked(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_repacked(*problem); });
}

template <bool kRepacks>
int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(*problem, slots, kRepacks); });
}

}  // namespace

const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm arms[] = {
      tare::modules::arm_table<tare_executor>(
          {TARE_READS_WEIGHTS_IN_PLACE, "ggml", "ggml", ggml_version()},
          {open_library, supports_in_place, prepare<false>}),
      tare::modules::arm_table<tare_executor>({0u, "ggml-repack", "ggml repacked", ggml_version()},
                                              {open_library, supports_repacked, prepare<true>})};
  return index < std::size(arms) ? &arms[index] : nullptr;
}
