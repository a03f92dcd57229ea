#include "mlx_cuda_executor.h"

#include <fmt/format.h>
#include <mlx/backend/cuda/device.h>
#include <mlx/device.h>
#include <mlx/memory.h>
#include <mlx/ops.h>
#include <mlx/primitives.h>
#include <mlx/stream.h>
#include <mlx/transforms.h>
#include <mlx/version.h>

#include <ctime>
#include <limits>
#include <memory>
#include <utility>

#include "device_region.h"
#include "module_support.h"

namespace tare::modules {
namespace {

namespace mx = mlx::core;

// x, once `before` has been computed: the same memory, and an edge in MLX's CUDA graph.
class After final : public mx::UnaryPrimitive {
 public:
  using UnaryPrimitive::UnaryPrimitive;
  void eval_cpu(const std::vector<mx::array>&, mx::array&) override {
    fail(Blame::kArm, "MLX's CUDA arm was evaluated on the processor");
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
  require(cudaMemcpyAsync(address_of(array), values, array.nbytes(), cudaMemcpyHostToDevice,
                          mlx_stream()),
          "copying to the device");
  require(cudaStreamSynchronize(mlx_stream()), "copying to the device");
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

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
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
  wait_for_mlx();
}

}  // namespace

cudaStream_t mlx_stream() {
  return mx::cu::get_command_encoder(mx::default_stream(mx::Device::gpu)).stream();
}

void wait_for_mlx() {
  require(cudaStreamSynchronize(mlx_stream()), "waiting for MLX");
}

MlxRegionClock::MlxRegionClock() {
  require(cudaEventCreate(&before_), "making an event");
  require(cudaEventCreate(&behind_), "making an event");
}

MlxRegionClock::~MlxRegionClock() {
  cudaEventDestroy(before_);
  cudaEventDestroy(behind_);
}

void MlxRegionClock::begin() {
  begun_ = thread_cpu_seconds();
  require(cudaEventRecord(before_, mlx_stream()), "recording an event");
}

void MlxRegionClock::end() {
  require(cudaEventRecord(behind_, mlx_stream()), "recording an event");
  host_seconds_ = thread_cpu_seconds() - begun_;
}

double MlxRegionClock::device_seconds() const {
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, before_, behind_), "reading the device's clock");
  return 1e-3 * static_cast<double>(milliseconds);
}

MlxCudaExecutor::MlxCudaExecutor(const tare_problem& problem, std::uint32_t slots)
    : problem_(problem), affine_(mlx_affine_of(problem.weights)), ring_(slots) {}

MlxCudaExecutor::~MlxCudaExecutor() {
  forget();
  inputs_.clear();
  ring_.clear();
  fenced([] { mx::clear_cache(); });  // or MLX keeps the ring's memory
}

void MlxCudaExecutor::bind(std::uint32_t slot, const void* weights) {
  ring_.at(slot) =
      affine_.group == 0 ? plain(problem_, weights) : quantised(problem_, affine_, weights);
}

void MlxCudaExecutor::set_rows(std::uint32_t rows) {
  forget();
  inputs_.clear();
  warm_ = false;
  problem_.rows = rows;
}

bool MlxCudaExecutor::enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
  return fenced([&] {
           take_input(x);
           add({slot, x, y});
         }) == 0;
}

void MlxCudaExecutor::finish_host_dispatches() {
  evaluate();
  wait_for_mlx();
  copy_outputs();
  forget();
}

void MlxCudaExecutor::take_region(const tare_region& region) {
  staged_.assign(region.dispatches, region.dispatches + region.count);
  for (const Input& known : inputs_) fill(known.array, known.x);
  for (const tare_dispatch& dispatch : staged_) input(dispatch.x);
  if (!warm_) warm_up(staged_.front());
}

// CUDA loads a kernel when it is first used, and waits for the device to do so: for ever, where the
// stream waits for the host.
void MlxCudaExecutor::warm_up(const tare_dispatch& dispatch) {
  add(dispatch);
  add(dispatch);
  evaluate();
  wait_for_mlx();
  forget();
  warm_ = true;
}

void MlxCudaExecutor::build_graph() {
  for (const tare_dispatch& dispatch : staged_) add(dispatch);
}

void MlxCudaExecutor::evaluate() {
  std::vector<mx::array> newest;
  for (const Output& output : outputs_) newest.push_back(output.newest);
  mx::async_eval(std::move(newest));
}

double MlxCudaExecutor::collect() {
  copy_outputs();
  dispatches_ = staged_.size();
  staged_.clear();
  forget();
  return clock_.device_seconds();
}

void MlxCudaExecutor::forget() noexcept {
  last_.reset();
  outputs_.clear();
}

void MlxCudaExecutor::describe_as(tare_dispatch_record& record, const std::string& how,
                                  const std::string& place) const {
  const double each =
      dispatches_ > 0 ? 1e6 * clock_.host_seconds() / static_cast<double>(dispatches_) : 0;
  modules::fill(
      record,
      {affine_.group == 0 ? "matmul" : "quantized_matmul, bf16 x and scales",
       isa_of(opened_device()),
       fmt::format("{}; {:.2g} us of the host's processor a dispatch, {}", how, each, place),
       fmt::format("MLX {}", mx::version())},
      0U);
}

MlxCudaExecutor::Weights MlxCudaExecutor::plain(const tare_problem& problem, const void* weights) {
  mx::array view = mx::transpose(copied(weights, problem.n, problem.k, mx::bfloat16));
  view.eval();  // a view: no copy, and no node left to evaluate in the first dispatch
  return {std::move(view), {}, {}};
}

MlxCudaExecutor::Weights MlxCudaExecutor::quantised(const tare_problem& problem,
                                                    const MlxAffine& affine, const void* weights) {
  const auto layout = formats::layout_of(formats::format_of(problem.weights), problem.k, problem.n);
  const auto* bytes = static_cast<const std::byte*>(weights);
  const std::vector<std::uint32_t> codes = mlx_codes(affine, bytes, problem.n * layout.code_row);
  mx::array scales = copied(bytes + layout.scales, problem.n, layout.groups, mx::bfloat16);
  mx::array biases = affine.has_biases
                         ? copied(bytes + layout.biases, problem.n, layout.groups, mx::bfloat16)
                         : mx::multiply(scales, mx::array(affine.bias_in_scales(), mx::bfloat16));
  biases.eval();
  return {copied(codes.data(), problem.n, codes.size() / problem.n, mx::uint32), std::move(scales),
          std::move(biases)};
}

mx::array MlxCudaExecutor::product(const mx::array& x, const Weights& weights) const {
  if (affine_.group == 0) return mx::matmul(x, weights.matrix);
  return mx::quantized_matmul(x, weights.matrix, *weights.scales, weights.biases, true,
                              affine_.group, affine_.bits);
}

void MlxCudaExecutor::add(const tare_dispatch& dispatch) {
  const mx::array& x = input(dispatch.x);
  mx::array y = product(last_ ? after(x, *last_) : x, ring_.at(dispatch.slot).value());
  last_ = y;
  remember(dispatch.y, std::move(y));
}

const mx::array& MlxCudaExecutor::input(const void* x) {
  for (const Input& known : inputs_)
    if (known.x == x) return known.array;
  inputs_.push_back({x, copied(x, problem_.rows, problem_.k, mx::bfloat16)});
  return inputs_.back().array;
}

// Values may have changed since the last fence, but not between two dispatches of one.
void MlxCudaExecutor::take_input(const void* x) {
  if (outputs_.empty())
    for (const Input& known : inputs_)
      if (known.x == x) fill(known.array, x);
  input(x);
}

void MlxCudaExecutor::remember(void* y, mx::array result) {
  for (Output& known : outputs_) {
    if (known.y == y) {
      known.newest = std::move(result);
      return;
    }
  }
  outputs_.push_back({y, std::move(result)});
}

void MlxCudaExecutor::copy_outputs() const {
  for (const Output& output : outputs_)
    require(cudaMemcpyAsync(output.y, address_of(output.newest), output.newest.nbytes(),
                            cudaMemcpyDeviceToHost, mlx_stream()),
            "copying from the device");
  wait_for_mlx();
}

int open_mlx_cuda(char* why, std::size_t why_size) {
  return fenced(why, why_size, [] {
    open_device([] { return cudaSuccess; });
    if (!mx::is_available(mx::Device::gpu))
      fail(Blame::kMachine, "MLX sees no GPU here; look at nvidia-smi");
    mx::set_default_device(mx::Device::gpu);
  });
}

int mlx_cuda_supports(const tare_problem* problem, char* why, std::size_t why_size) {
  return fenced(why, why_size, [&] {
    constexpr auto kMost = std::numeric_limits<mx::ShapeElem>::max();
    require_mlx_types(*problem, kMost);
    const MlxAffine affine = mlx_affine_of(problem->weights);
    if (affine.f16_scales)
      fail(Blame::kArm, "MLX's kernels take scales of the type of x; the problem has {} weights",
           type_name(problem->weights));
    if (affine.has_zeros)
      fail(Blame::kArm, "MLX's kernels take biases in the type of x, which do not hold {} weights",
           type_name(problem->weights));
    if (affine.group != 0) try_quantised(*problem, affine);
  });
}

}  // namespace tare::modules
