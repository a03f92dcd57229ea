// oneDNN as two arms: its matrix product ("onednn") and its inner product ("onednn-ip"). Both get
// the weights packed once, in the layout that the library itself prefers, and user-managed scratch
// memory, so that a dispatch only executes. dnnl_primitive_execute builds a small argument map of
// its own inside; that is part of its price.
//
// Why two (oneDNN 2.6.3, 2 threads of an AVX-512-BF16 Xeon, cold weights): they are different
// kernels, and neither is always faster. At 1536x256 the inner product ran on one thread with 1 and
// 8 rows and took 1.5 times as long; at 4096x4096 any difference was lost in that machine's noise.
// And their bits differ: 13 of 49152 outputs at 1536x1536 with 32 rows, 0 with 1 row, none at
// 4096x1024.
//
// Compiled once for every oneDNN that is here (modules/incumbents.cmake), each a module of its own:
// 2.6 of the system, 3.x by './tare incumbents'. 3.x dropped operation descriptors and hid the
// fields of a layout; the rest is alike.

#if __has_include(<omp.h>)
#include <omp.h>
#endif

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "arm_table.h"
#include "bf16_and_f32.h"
#include "module_support.h"
#include "onednn_layout.h"

namespace {

using tare::Blame;
using tare::fail;
using tare::formats::layout_of;
using tare::modules::fenced;
using tare::modules::HostMemory;
using tare::modules::layout_text;
using Descriptor = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// Of f32 weights x, sums and y are f32: this arm makes x f32, and rounds y to bf16.
dnnl::memory::data_type type_of(std::uint32_t type) {
  return type == TARE_F32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

// The ABI gives supports() and prepare() no context, so what open() learned is kept for the
// process.
const tare_services*& host() {
  static const tare_services* services = nullptr;
  return services;
}

std::string version_text() {
  const dnnl::version_t* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

std::string isa_text() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 BF16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AMX BF16";
    default:
      return fmt::format("dnnl_cpu_isa_t {}", static_cast<int>(dnnl::get_effective_cpu_isa()));
  }
}

// One primitive for one problem: everything that depends on the row count.
struct Plan {
  dnnl::primitive primitive;
  Descriptor source, weights, bias, destination, scratch;
  std::string implementation;
};

template <typename PrimitiveDescriptor, typename Primitive>
Plan plan_from(const PrimitiveDescriptor& descriptor) {
  return {Primitive(descriptor),     descriptor.src_desc(), descriptor.weights_desc(),
          descriptor.bias_desc(),    descriptor.dst_desc(), descriptor.scratchpad_desc(),
          descriptor.impl_info_str()};
}

dnnl::primitive_attr own_scratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

struct Extents {
  dnnl::memory::dim rows, k, n;
  explicit Extents(const tare_problem& problem)
      : rows(static_cast<dnnl::memory::dim>(problem.rows)),
        k(static_cast<dnnl::memory::dim>(problem.k)),
        n(static_cast<dnnl::memory::dim>(problem.n)) {}
};

// Of no bias an empty one, which both primitives take for none.
Descriptor bias_of(const tare_problem& problem, const dnnl::memory::dims& dims, Tag tag) {
  return problem.bias == 0 ? Descriptor() : Descriptor(dims, type_of(problem.bias), tag);
}

// How an arm words the projection to oneDNN, and how it reads W as the model file stores it.
struct Wording {
  const char* operation;
  Plan (*plan)(const tare_problem&, const dnnl::engine&);
  Descriptor (*stored_weights)(const tare_problem&);
};

Plan plan_matmul(const tare_problem& problem, const dnnl::engine& engine) {
  const Extents e(problem);
  const auto type = type_of(problem.weights);
  const Descriptor x({e.rows, e.k}, type, Tag::ab), weights({e.k, e.n}, type, Tag::any),
      bias = bias_of(problem, {1, e.n}, Tag::ab), y({e.rows, e.n}, type, Tag::ab);
  using Choice = dnnl::matmul::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
  const Choice choice(engine, x, weights, bias, y, own_scratch());
#else
  const Choice choice(dnnl::matmul::desc(x, weights, bias, y), own_scratch(), engine);
#endif
  return plan_from<Choice, dnnl::matmul>(choice);
}

Descriptor stored_for_matmul(const tare_problem& problem) {
  const Extents e(problem);
  return Descriptor({e.k, e.n}, type_of(problem.weights), Tag::ba);
}

Plan plan_inner_product(const tare_problem& problem, const dnnl::engine& engine) {
  const Extents e(problem);
  constexpr auto kForward = dnnl::prop_kind::forward_inference;
  const auto type = type_of(problem.weights);
  const Descriptor x({e.rows, e.k}, type, Tag::ab), weights({e.n, e.k}, type, Tag::any),
      bias = bias_of(problem, {e.n}, Tag::a), y({e.rows, e.n}, type, Tag::ab);
  using Choice = dnnl::inner_product_forward::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
  const Choice choice(engine, kForward, x, weights, bias, y, own_scratch());
#else
  const Choice choice(dnnl::inner_product_forward::desc(kForward, x, weights, bias, y),
                      own_scratch(), engine);
#endif
  return plan_from<Choice, dnnl::inner_product_forward>(choice);
}

Descriptor stored_for_inner_product(const tare_problem& problem) {
  const Extents e(problem);
  return Descriptor({e.n, e.k}, type_of(problem.weights), Tag::ab);
}

constexpr Wording kMatmul{"matrix product", plan_matmul, stored_for_matmul};
constexpr Wording kInnerProduct{"inner product", plan_inner_product, stored_for_inner_product};

// Asks oneDNN for the primitive; its "unimplemented" becomes a reason that names the ISA.
Plan plan_or_fail(const Wording& wording, const tare_problem& problem, const dnnl::engine& engine) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  if (tare::modules::is_all_f32(problem))
    tare::modules::require_sizes(problem, "oneDNN", kMost);
  else
    tare::modules::require_plain(problem, "oneDNN", {TARE_BF16, TARE_F32}, kMost,
                                 {TARE_BF16, TARE_F32});
  try {
    return wording.plan(problem, engine);
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented) throw;
    fail(Blame::kArm, "{} has no {} {} for {}x{} with {} rows{} on {}", version_text(),
         tare::modules::type_name(problem.weights), wording.operation, problem.k, problem.n,
         problem.rows, problem.bias == 0 ? "" : " and a bias", isa_text());
  }
}

// oneDNN takes its threads from the runtime that it was built for.
#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
// The OpenMP runtime is shared with this module; a stray OMP_DYNAMIC would let it give fewer.
void start_runtime(std::uint32_t threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(static_cast<int>(threads));
}
std::uint32_t threads_in_use() {
  return static_cast<std::uint32_t>(omp_get_max_threads());
}
constexpr bool kReadsArgumentsLater = false;
#else
// SYCL finds the processor through an OpenCL driver that lies beside the library and is registered
// nowhere; its TBB takes the processors of the affinity mask, which are as many as the host offers.
void start_runtime(std::uint32_t) {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&dnnl_version), &library) == 0) return;
  const auto driver = std::filesystem::path(library.dli_fname).parent_path() / "libintelocl.so";
  setenv("OCL_ICD_FILENAMES", driver.c_str(), 0);
}
std::uint32_t threads_in_use() {
  return host()->threads;
}
// Its queue runs a dispatch when it likes and looks up x and y then: they must not change before.
constexpr bool kReadsArgumentsLater = true;
#endif

struct Slot {
  HostMemory packed, bias_bytes;
  dnnl::memory weights, bias;
  dnnl_memory_t handle = nullptr;  // of weights; null until bind()
  dnnl_memory_t bias_handle = nullptr;
};

// Positions in the argument list of a dispatch; the last only where there is a bias.
enum Argument : std::size_t { kSource, kWeights, kDestination, kScratch, kBias, kArguments };

// Wraps no memory yet: bind() and enqueue() hand it over.
dnnl::memory unbound(const Descriptor& layout, const dnnl::engine& engine) {
  return dnnl::memory(layout, engine, DNNL_MEMORY_NONE);
}

}  // namespace

struct tare_executor {
  tare_executor(const Wording& wording_, const tare_problem& problem_, std::uint32_t slots_)
      : wording(wording_),
        problem(problem_),
        engine(dnnl::engine::kind::cpu, 0),
        stream(engine),
        stream_handle(stream.get()),
        slots(slots_) {
    adopt(plan_or_fail(wording, problem, engine));
  }

  void adopt(Plan next) {
    plan = std::move(next);
    if (widens()) {
      wide_x = HostMemory(*host(), plan.source.get_size());
      sums = HostMemory(*host(), plan.destination.get_size());
    }
    primitive_handle = plan.primitive.get();
    scratch_bytes = HostMemory(*host(), plan.scratch.get_size());
    scratch = dnnl::memory(plan.scratch, engine, scratch_bytes.data());
    source = unbound(plan.source, engine);
    destination = unbound(plan.destination, engine);
    arguments = {dnnl_exec_arg_t{DNNL_ARG_SRC, source.get()},
                 dnnl_exec_arg_t{DNNL_ARG_WEIGHTS, nullptr},
                 dnnl_exec_arg_t{DNNL_ARG_DST, destination.get()},
                 dnnl_exec_arg_t{DNNL_ARG_SCRATCHPAD, scratch.get()},
                 dnnl_exec_arg_t{DNNL_ARG_BIAS, nullptr}};
  }

  void bind(std::uint32_t index, const void* weights) {
    Slot& slot = slots.at(index);
    slot.packed = HostMemory(*host(), plan.weights.get_size());
    slot.weights = dnnl::memory(plan.weights, engine, slot.packed.data());
    dnnl::memory stored(wording.stored_weights(problem), engine, const_cast<void*>(weights));
    dnnl::reorder(stored, slot.weights).execute(stream, stored, slot.weights);
    stream.wait();
    slot.handle = slot.weights.get();
    if (problem.bias != 0) bind_bias(slot, weights);
  }

  void bind_bias(Slot& slot, const void* weights) {
    slot.bias_bytes = HostMemory(*host(), plan.bias.get_size());
    std::memcpy(slot.bias_bytes.data(),
                static_cast<const std::byte*>(weights) + layout_of(problem).output_bias,
                plan.bias.get_size());
    slot.bias = dnnl::memory(plan.bias, engine, slot.bias_bytes.data());
    slot.bias_handle = slot.bias.get();
  }

  void set_rows(std::uint32_t rows) {
    tare_problem next = problem;
    next.rows = rows;
    Plan other = plan_or_fail(wording, next, engine);
    if (other.weights != plan.weights) {
      fail(Blame::kArm, "{} packs the weights as {} for {} rows and as {} for {}: prepare anew",
           version_text(), layout_text(plan.weights), problem.rows, layout_text(other.weights),
           rows);
    }
    adopt(std::move(other));
    problem = next;
  }

  bool enqueue(std::uint32_t index, const void* x, void* y) noexcept {
    if (!widens()) return execute(index, x, y);
    tare::modules::widen_bf16(static_cast<const std::uint16_t*>(x),
                              static_cast<float*>(wide_x.data()), problem.rows * problem.k);
    if (!execute(index, wide_x.data(), sums.data()) || !fence()) return false;
    tare::modules::round_to_bf16(static_cast<const float*>(sums.data()),
                                 static_cast<std::uint16_t*>(y), problem.rows * problem.n);
    return true;
  }

  // f32 weights, and x and y of bf16.
  bool widens() const { return problem.weights == TARE_F32 && !tare::modules::is_all_f32(problem); }

  // The timed path, in the C interface: the C++ one builds a map and a vector in every call.
  bool execute(std::uint32_t index, const void* x, void* y) noexcept {
    if (index >= slots.size() || slots[index].handle == nullptr) return false;
    arguments[kWeights].memory = slots[index].handle;
    arguments[kBias].memory = slots[index].bias_handle;
    const int count = problem.bias == 0 ? kArguments - 1 : kArguments;
    return dnnl_memory_set_data_handle(arguments[kSource].memory, const_cast<void*>(x)) ==
               dnnl_success &&
           dnnl_memory_set_data_handle(arguments[kDestination].memory, y) == dnnl_success &&
           dnnl_primitive_execute(primitive_handle, stream_handle, count, arguments.data()) ==
               dnnl_success &&
           (!kReadsArgumentsLater || dnnl_stream_wait(stream_handle) == dnnl_success);
  }

  bool fence() noexcept { return dnnl_stream_wait(stream_handle) == dnnl_success; }

  // The threads are those oneDNN was given: how many took part it does not tell (see the top of
  // this file).
  void describe(tare_dispatch_record& record) const {
    const std::string configuration =
        fmt::format("{}, weights packed as {}{}{}", wording.operation, layout_text(plan.weights),
                    problem.bias == 0 ? "" : ", bias",
                    widens() ? "; x made f32 and y rounded to bf16 by this arm" : "");
    const std::string library = fmt::format("{} ({:.12})", version_text(), dnnl::version()->hash);
    tare::modules::fill(record, {plan.implementation, isa_text(), configuration, library},
                        threads_in_use());
  }

  const Wording& wording;
  tare_problem problem;
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl_stream_t stream_handle;
  std::vector<Slot> slots;
  Plan plan;
  dnnl_primitive_t primitive_handle = nullptr;
  HostMemory scratch_bytes;
  HostMemory wide_x, sums;  // of f32 weights
  dnnl::memory scratch, source, destination;
  std::array<dnnl_exec_arg_t, kArguments> arguments{};
};

namespace {

int open_library(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    host() = services;
    start_runtime(services->threads);
  });
}

template <const Wording& wording>
int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size,
                [&] { plan_or_fail(wording, *problem, dnnl::engine(dnnl::engine::kind::cpu, 0)); });
}

template <const Wording& wording>
int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(wording, *problem, slots); });
}

template <const Wording& wording>
tare_arm arm_of(const char* name, const char* title) {
  const dnnl::version_t* loaded = dnnl::version();
  static const std::string version =
      fmt::format("{}.{}.{}", loaded->major, loaded->minor, loaded->patch);
  return tare::modules::arm_table<tare_executor>(
      {0u, name, title, version.c_str()}, {open_library, supports<wording>, prepare<wording>});
}

}  // namespace

// Another version's module is another name: TARE_ONEDNN_ARM is "onednn", "onednn3" ...
const tare_arm* tare_arm_v1(uint32_t index) {
  static const std::array<tare_arm, 2> arms = {
      arm_of<kMatmul>(TARE_ONEDNN_ARM, "oneDNN"),
      arm_of<kInnerProduct>(TARE_ONEDNN_ARM "-ip", "oneDNN ip"),
  };
  return index < arms.size() ? &arms[index] : nullptr;
}
