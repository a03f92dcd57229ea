// MLX on its CUDA device: matmul(x, W^T) in bf16, as mlx.nn.Linear writes it, and quantized_matmul
// of affine 4- and 8-bit weights with bf16 scales, as mlx.nn.QuantizedLinear does. Built twice:
//
//   "mlx-cuda"         as its users get it: a region builds MLX's lazy graph (launch) and evaluates
//                      it (fence). MLX then makes CUDA graphs of up to 100 operations by itself,
//                      while the first of them run. What that costs its host is in the region.
//   "mlx-cuda-queued"  its kernels alone: the whole region becomes one CUDA graph before it is
//                      timed (MLX_MAX_OPS_PER_BUFFER), behind a gate that launch() opens. This is
//                      what other arms' graphs are to be compared with.
//
// MLX's streams cannot be captured: they meet other streams and threads of MLX in every commit. It
// finds dependences by buffer, and would run dispatches that share no buffer side by side; those of
// a region depend on each other (tare/arm.h), so each reads its x through After, below.
//
// Weights lie in memory of the device: arrays are made there, and filled by copies. (The array
// constructor takes managed memory.) The sums of 4-bit weights are bf16 ones where MLX multiplies a
// single row (qmv.cu); the proof of a row says how far that is from what was asked for.
#include <cuda.h>
#include <mlx/array.h>
#include <mlx/backend/cuda/device.h>
#include <mlx/device.h>
#include <mlx/memory.h>
#include <mlx/ops.h>
#include <mlx/primitives.h>
#include <mlx/stream.h>
#include <mlx/transforms.h>
#include <mlx/version.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "device_arm_table.h"
#include "device_region.h"
#include "mlx_weights.h"

namespace {

using tare::modules::fenced;
using tare::modules::MlxAffine;
using tare::modules::require;

namespace mx = mlx::core;

#ifdef TARE_MLX_QUEUED
constexpr bool kQueued = true;
#else
constexpr bool kQueued = false;
#endif

mx::cu::CommandEncoder& encoder() {
  return mx::cu::get_command_encoder(mx::default_stream(mx::Device::gpu));
}

cudaStream_t stream() {
  return encoder().stream();
}

// x, once `before` has been computed: the same memory, and an edge in MLX's CUDA graph.
class After final : public mx::UnaryPrimitive {
 public:
  using UnaryPrimitive::UnaryPrimitive;
  void eval_cpu(const std::vector<mx::array>&, mx::array&) override {
    tare::fail(tare::Blame::kArm, "MLX's CUDA arm was evaluated on the processor");
  }
  void eval_gpu(const std::vector<mx::array>& inputs, mx::array& x) override {
    x.copy_shared_buffer(inputs[0]);
    mx::cu::get_command_encoder(this->stream()).set_input_array(inputs[1]);
  }
  const char* name() const override { return "After"; }
};

mx::array after(const mx::array& x, const mx::array& before) {
  return mx::array(x.shape(), x.dtype(),
                   std::make_shared<After>(mx::default_stream(mx::Device::gpu)), {x, before});
}

void* address_of(const mx::array& array) {
  const auto* buffer = static_cast<const mx::cu::CudaBuffer*>(array.buffer().ptr());
  return static_cast<std::byte*>(buffer->data) + array.offset();
}

mx::Shape shape_of(std::uint64_t rows, std::uint64_t columns) {
  return {static_cast<mx::ShapeElem>(rows), static_cast<mx::ShapeElem>(columns)};
}

void fill(const mx::array& array, const void* values) {
  require(
      cudaMemcpyAsync(address_of(array), values, array.nbytes(), cudaMemcpyHostToDevice, stream()),
      "copying to the device");
  require(cudaStreamSynchronize(stream()), "copying to the device");
}

mx::array on_device(std::uint64_t rows, std::uint64_t columns, mx::Dtype type) {
  mx::array array = mx::zeros(shape_of(rows, columns), type);
  array.eval();
  return array;
}

mx::array copied(const void* values, std::uint64_t rows, std::uint64_t columns, mx::Dtype type) {
  mx::array array = on_device(rows, columns, type);
  fill(array, values);
  return array;
}

// The weights of one slot: W^T as a view, or the three arrays of quantized_matmul.
struct Weights {
  mx::array matrix;
  std::optional<mx::array> scales, biases;

  static Weights plain(const tare_problem& problem, const void* weights) {
    mx::array view = mx::transpose(copied(weights, problem.n, problem.k, mx::bfloat16));
    view.eval();  // a view: no copy, and no node left to evaluate in the first dispatch
    return {std::move(view), {}, {}};
  }

  static Weights quantised(const tare_problem& problem, const MlxAffine& affine,
                           const void* weights) {
    const auto layout =
        tare::formats::layout_of(tare::formats::format_of(problem.weights), problem.k, problem.n);
    const auto* bytes = static_cast<const std::byte*>(weights);
    const std::vector<std::uint32_t> codes =
        tare::modules::mlx_codes(affine, bytes, problem.n * layout.code_row);
    mx::array scales = copied(bytes + layout.scales, problem.n, layout.groups, mx::bfloat16);
    mx::array biases = affine.has_biases
                           ? copied(bytes + layout.biases, problem.n, layout.groups, mx::bfloat16)
                           : mx::multiply(scales, mx::array(affine.bias_in_scales(), mx::bfloat16));
    biases.eval();
    return {copied(codes.data(), problem.n, codes.size() / problem.n, mx::uint32),
            std::move(scales), std::move(biases)};
  }
};

struct Input {
  const void* x;  // on the host
  mx::array array;
};
struct Output {
  void* y;  // on the host
  mx::array newest;
};

// A gate in a stream: what is enqueued after close() waits on the device for open(). It waits for a
// word of memory, not for a function of the host (cudaLaunchHostFunc): behind one of those, calls
// of the runtime were seen to wait as well, for ever.
class Gate {
 public:
  Gate() {
    require(cudaHostAlloc(reinterpret_cast<void**>(&word_), sizeof *word_, cudaHostAllocMapped),
            "making the gate before regions");
    require(cudaHostGetDevicePointer(&address_, word_, 0), "making the gate before regions");
    cudaDriverEntryPointQueryResult found{};
    require(
        cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", reinterpret_cast<void**>(&wait_),
                                         12000, cudaEnableDefault, &found),
        "looking for cuStreamWaitValue32");
    open();
  }
  ~Gate() { cudaFreeHost(word_); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void close(cudaStream_t stream) {
    std::atomic_ref(*word_).store(0);
    const auto result =
        wait_(stream, reinterpret_cast<CUdeviceptr>(address_), kOpen, CU_STREAM_WAIT_VALUE_EQ);
    if (result != CUDA_SUCCESS)
      tare::fail(tare::Blame::kMachine, "cuStreamWaitValue32 failed with error {}",
                 static_cast<int>(result));
  }
  void open() { std::atomic_ref(*word_).store(kOpen); }

 private:
  static constexpr std::uint32_t kOpen = 1;
  std::uint32_t* word_ = nullptr;
  void* address_ = nullptr;
  CUresult (*wait_)(CUstream, CUdeviceptr, cuuint32_t, unsigned) = nullptr;
};

void wait_for_stream() {
  require(cudaStreamSynchronize(stream()), "waiting for MLX");
}

class Event {
 public:
  Event() { require(cudaEventCreate(&event_), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { require(cudaEventRecord(event_, stream()), "recording an event"); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots)
      : problem(problem_), affine(tare::modules::mlx_affine_of(problem_.weights)), ring(slots) {}
  ~tare_executor() {
    fenced([&] { drop_queued(); });
    forget();
    inputs.clear();
    ring.clear();
    fenced([] { mx::clear_cache(); });  // or MLX keeps the ring's memory
  }
  tare_executor(const tare_executor&) = delete;
  tare_executor& operator=(const tare_executor&) = delete;

  void bind(std::uint32_t slot, const void* weights) {
    ring.at(slot) = affine.group == 0 ? Weights::plain(problem, weights)
                                      : Weights::quantised(problem, affine, weights);
  }

  void set_rows(std::uint32_t rows) {
    forget();
    inputs.clear();
    warm = false;
    problem.rows = rows;
  }

  // ---- dispatches of a caller whose x and y are on the host

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    return fenced([&] {
             take(x);
             add({slot, x, y});
           }) == 0;
  }

  bool fence() noexcept {
    const bool done = fenced([&] { running ? finish() : finish_host_dispatches(); }) == 0;
    if (!done) fenced([&] { drop_queued(); });
    return done;
  }

  void finish_host_dispatches() {
    evaluate();
    wait_for_stream();
    copy_outputs();
    forget();
    // The opening dispatch of a region is over, and the region itself comes next.
    if (kQueued && !staged.empty()) queue();
  }

  // ---- a region

  void stage(const tare_region& region) {
    drop_queued();
    staged.assign(region.dispatches, region.dispatches + region.count);
    for (const Input& known : inputs) fill(known.array, known.x);
    for (const tare_dispatch& dispatch : staged) input(dispatch.x);
    if (!warm) warm_up(staged.front());
  }

  // CUDA loads a kernel when it is first used, and waits for the device to do so: for ever, behind
  // the gate.
  void warm_up(const tare_dispatch& dispatch) {
    add(dispatch);
    add(dispatch);
    evaluate();
    wait_for_stream();
    forget();
    warm = true;
  }

  bool launch() noexcept {
    return fenced([&] {
             running = true;
             if (kQueued) {
               if (!queued) queue();
               gate.open();
               return;
             }
             started = thread_cpu_seconds();
             before.record();
             for (const tare_dispatch& dispatch : staged) add(dispatch);
           }) == 0;
  }

  void finish() {
    if (!kQueued) {
      evaluate();
      behind.record();
      host_seconds = thread_cpu_seconds() - started;
    }
    wait_for_stream();
    running = queued = false;
  }

  // The region as one CUDA graph of MLX's, which waits behind the gate.
  void queue() {
    gate.close(stream());
    const double begun = thread_cpu_seconds();
    before.record();
    for (const tare_dispatch& dispatch : staged) add(dispatch);
    evaluate();
    behind.record();
    host_seconds = thread_cpu_seconds() - begun;
    queued = true;
  }

  // A region that was never launched must not hold up what comes next.
  void drop_queued() {
    gate.open();
    wait_for_stream();
    queued = running = false;
    forget();
  }

  double collect() {
    copy_outputs();
    dispatches = staged.size();
    staged.clear();
    forget();
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, before.get(), behind.get()),
            "reading the device's clock");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  // ---- MLX's graph

  void add(const tare_dispatch& dispatch) {
    const mx::array& x = input(dispatch.x);
    mx::array y = product(last ? after(x, *last) : x, ring.at(dispatch.slot).value());
    last = y;
    remember(dispatch.y, std::move(y));
  }

  mx::array product(const mx::array& x, const Weights& weights) const {
    if (affine.group == 0) return mx::matmul(x, weights.matrix);
    return mx::quantized_matmul(x, weights.matrix, *weights.scales, weights.biases, true,
                                affine.group, affine.bits);
  }

  // Hands all of the graph to the device; it may still be running.
  void evaluate() {
    std::vector<mx::array> newest;
    for (const Output& output : outputs) newest.push_back(output.newest);
    mx::async_eval(std::move(newest));
  }

  const mx::array& input(const void* x) {
    for (const Input& known : inputs)
      if (known.x == x) return known.array;
    inputs.push_back({x, copied(x, problem.rows, problem.k, mx::bfloat16)});
    return inputs.back().array;
  }

  // Values may have changed since the last fence, but not between two dispatches of one.
  void take(const void* x) {
    if (!outputs.empty()) {
      input(x);
      return;
    }
    for (const Input& known : inputs)
      if (known.x == x) fill(known.array, x);
    input(x);
  }

  void remember(void* y, mx::array result) {
    for (Output& known : outputs) {
      if (known.y == y) {
        known.newest = std::move(result);
        return;
      }
    }
    outputs.push_back({y, std::move(result)});
  }

  void copy_outputs() const {
    for (const Output& output : outputs)
      require(cudaMemcpyAsync(output.y, address_of(output.newest), output.newest.nbytes(),
                              cudaMemcpyDeviceToHost, stream()),
              "copying from the device");
    wait_for_stream();
  }

  void forget() noexcept {
    last.reset();
    outputs.clear();
  }

  void describe(tare_dispatch_record& record) const {
    const double each = dispatches > 0 ? 1e6 * host_seconds / static_cast<double>(dispatches) : 0;
    const std::string how = fmt::format(
        "{}; {:.2g} us of the host's processor a dispatch, {} the region",
        kQueued ? "one CUDA graph of MLX's, queued before it is timed"
                : "lazy graph in launch, evaluated in fence; MLX_MAX_OPS_PER_BUFFER as it is",
        each, kQueued ? "before" : "in");
    tare::modules::fill(
        record,
        {affine.group == 0 ? "matmul" : "quantized_matmul, bf16 x and scales",
         isa_of(tare::modules::opened_device()), how, fmt::format("MLX {}", mx::version())},
        0U);
  }

  tare_problem problem;
  MlxAffine affine;
  std::vector<std::optional<Weights>> ring;
  std::vector<Input> inputs;    // kept from region to region, filled anew
  std::vector<Output> outputs;  // of the dispatches since the last fence
  std::optional<mx::array> last;
  std::vector<tare_dispatch> staged;
  Gate gate;
  Event before, behind;
  bool warm = false;  // the kernels of this row count have run
  bool queued = false, running = false;
  double started = 0;       // thread_cpu_seconds() at launch
  double host_seconds = 0;  // of the last region: building the graph and handing it over
  std::size_t dispatches = 0;
};

namespace {

int open_library(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    if (kQueued) {  // read by MLX when its first stream is made
      setenv("MLX_MAX_OPS_PER_BUFFER", "1000000000", 1);
      setenv("MLX_MAX_MB_PER_BUFFER", "1000000000", 1);
    }
    tare::modules::open_device([] { return cudaSuccess; });
    if (!mx::is_available(mx::Device::gpu))
      tare::fail(tare::Blame::kMachine, "MLX sees no GPU here; look at nvidia-smi");
    mx::set_default_device(mx::Device::gpu);
  });
}

// MLX says which quantised products it has no kernel for when it is to run one.
void try_quantised(const tare_problem& problem, const MlxAffine& affine) {
  const std::uint64_t words = problem.k * static_cast<std::uint64_t>(affine.bits) / 32;
  const std::uint64_t groups = problem.k / static_cast<std::uint64_t>(affine.group);
  const auto zeros = [](std::uint64_t rows, std::uint64_t columns, mx::Dtype type) {
    return mx::zeros(shape_of(rows, columns), type);
  };
  mx::array scales = zeros(problem.n, groups, mx::bfloat16);
  mx::array y = mx::quantized_matmul(zeros(problem.rows, problem.k, mx::bfloat16),
                                     zeros(problem.n, words, mx::uint32), scales, scales, true,
                                     affine.group, affine.bits);
  y.eval();
  wait_for_stream();
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    constexpr auto kMost = std::numeric_limits<mx::ShapeElem>::max();
    if (tare::modules::mlx_affine_of(problem->weights).group == 0)
      return tare::modules::require_bf16(*problem, "MLX", kMost);
    tare::modules::require_common(*problem, "MLX", kMost);
    if (problem->activations != TARE_BF16)
      tare::fail(tare::Blame::kArm, "MLX does not round activations; the problem has {}",
                 tare::modules::type_name(problem->activations));
    try_quantised(*problem, tare::modules::mlx_affine_of(problem->weights));
  });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(*problem, slots); });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm arm = tare::modules::device_arm_table<tare_executor>(
      {0U, kQueued ? "mlx-cuda-queued" : "mlx-cuda", kQueued ? "MLX CUDA queued" : "MLX CUDA",
       mx::version()},
      {open_library, supports, prepare});
  return index == 0 ? &arm.arm : nullptr;
}
