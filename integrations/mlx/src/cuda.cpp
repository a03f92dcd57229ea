// Matrices on MLX's GPU: the kernels of src/kernels/cuda, put into the CUDA graph that MLX makes of
// its stream.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <mlx/allocator.h>
#include <mlx/backend/cuda/allocator.h>
#include <mlx/backend/cuda/device.h>
#include <mlx/memory.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <map>
#include <mutex>

#include "base/error.h"
#include "device/accelerator.h"
#include "formats/weight_format.h"
#include "kernels/cuda/cut.h"
#include "kernels/cuda/identity.h"
#include "kernels/cuda/slab.h"
#include "matrix.h"

namespace tare::in_mlx {
namespace {

using kernels::cuda::CutPlan;
using mx::allocator::Buffer;
using mx::cu::CommandEncoder;
using mx::cu::CudaBuffer;

void require(cudaError_t result, const char* doing) {
  if (result != cudaSuccess) fail(Blame::kMachine, "{}: {}", doing, cudaGetErrorString(result));
}

// Memory of outputs. MLX's own way to memory of the device is not exported by its library
// (cu::malloc_async), and what is (allocator::malloc) is managed memory. So arrays get pieces of
// this pool, which come back when MLX lets go of them: after the work that uses them has ended.
class OutputPool : public std::enable_shared_from_this<OutputPool> {
 public:
  explicit OutputPool(int device) : device_(device) {}
  ~OutputPool() {
    for (auto& [bytes, pieces] : free_)
      for (void* piece : pieces) cudaFree(piece);
  }
  OutputPool(const OutputPool&) = delete;
  OutputPool& operator=(const OutputPool&) = delete;

  mx::allocator::Data allocate(std::size_t bytes, cudaStream_t stream) {
    auto* buffer = new CudaBuffer{take(bytes, stream), bytes, device_};
    return {Buffer(buffer), [self = shared_from_this(), bytes](Buffer returned) {
              self->give_back(returned, bytes);
            }};
  }

 private:
  void* take(std::size_t bytes, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& pieces = free_[bytes];
    if (!pieces.empty()) {
      void* piece = pieces.back();
      pieces.pop_back();
      return piece;
    }
    void* piece = nullptr;
    require(cudaMallocAsync(&piece, bytes, stream), "memory for outputs");
    return piece;
  }

  // Where the host read an array, MLX has exchanged its memory for unified one.
  void give_back(Buffer returned, std::size_t bytes) {
    auto* buffer = static_cast<CudaBuffer*>(returned.ptr());
    if (buffer == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (buffer->device == device_)
      free_[bytes].push_back(buffer->data);
    else
      cudaFree(buffer->data);
    delete buffer;
  }

  int device_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
};

std::byte* address_of(const mx::array& array) {
  const auto* buffer = static_cast<const CudaBuffer*>(array.buffer().ptr());
  return static_cast<std::byte*>(buffer->data) + array.offset();
}

// Memory of the device. (The array constructor takes managed memory.)
mx::array on_device(std::uint64_t bytes) {
  mx::array array = mx::zeros({static_cast<mx::ShapeElem>(bytes / sizeof(std::uint32_t))},
                              mx::uint32, mx::Device::gpu);
  array.eval();
  return array;
}

cudaStream_t stream_of_encoder(CommandEncoder& encoder) {
  return encoder.stream();
}

// The weights in device memory as tare/arm.h lays them out.
mx::array planes_of(const Weights& weights, cudaStream_t stream) {
  if (weights.type == TARE_BF16) return weights.weight;
  const auto layout = formats::layout_of(formats::format_of(weights.type), weights.k, weights.n);
  mx::array planes = on_device((layout.total_bytes + 3) / 4 * 4);
  const auto put = [&](std::uint64_t at, const mx::array& array) {
    require(cudaMemcpyAsync(address_of(planes) + at, address_of(array), array.nbytes(),
                            cudaMemcpyDefault, stream),
            "copying weights");
  };
  put(0, weights.weight);
  put(layout.scales, weights.scales.value());
  put(layout.biases, weights.biases.value());
  return planes;
}

// Makes a launch a node of the graph that MLX is making. (What is captured from its stream becomes
// one, too, as its own cuBLAS products do, but beginning and ending a capture costs more.)
class Node final : public kernels::cuda::LaunchSink {
 public:
  explicit Node(CommandEncoder& encoder) : encoder_(encoder) {}

  cudaError_t take(const void* kernel, const kernels::cuda::Launch& how,
                   const void* arguments) override {
    void* parameters[] = {const_cast<void*>(arguments)};
    if (how.cluster > 1) return take_cluster(kernel, how, parameters);
    cudaFunction_t function = nullptr;
    const cudaError_t found = cudaGetFuncBySymbol(&function, kernel);
    if (found != cudaSuccess) return found;
    encoder_.add_kernel_node_raw(static_cast<CUfunction>(function), dim3(how.blocks),
                                 dim3(how.threads), dim3(1), how.shared_bytes, parameters);
    return cudaSuccess;
  }

 private:
  // MLX keeps graphs for reuse under a key that tells clusters apart in graphs of their own alone.
  cudaError_t take_cluster(const void* kernel, const kernels::cuda::Launch& how,
                           void** parameters) {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams launch{};
    launch.func = const_cast<void*>(kernel);
    launch.gridDim = dim3(how.blocks);
    launch.blockDim = dim3(how.threads);
    launch.sharedMemBytes = how.shared_bytes;
    launch.kernelParams = parameters;
    cudaLaunchAttributeValue cluster{};
    cluster.clusterDim = {how.cluster, 1, 1};
    cudaError_t result = cudaGraphCreate(&graph, 0);
    if (result == cudaSuccess) result = cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch);
    if (result == cudaSuccess)
      result = cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &cluster);
    if (result == cudaSuccess)
      encoder_.add_graph_node(graph, fmt::format("(K{})", how.cluster), true);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return result;
  }

  CommandEncoder& encoder_;
};

class CudaMatrix final : public Matrix {
 public:
  CudaMatrix(const CutPlan& plan, std::shared_ptr<OutputPool> pool, const Weights& weights)
      : Matrix(weights.k, weights.n),
        plan_(plan),
        pool_(std::move(pool)),
        packed_(on_device((weight_bytes(plan) + 3) / 4 * 4)) {
    bytes_ = packed_.nbytes();
    CommandEncoder& encoder = mx::cu::get_command_encoder(mx::default_stream(mx::Device::gpu));
    const cudaStream_t stream = stream_of_encoder(encoder);
    encoder.synchronize();
    require(kernels::cuda::cut_prepare(plan_), "preparing a kernel");
    const mx::array planes = planes_of(weights, stream);
    require(kernels::cuda::cut_pack(plan_, address_of(planes), address_of(packed_), stream),
            "packing weights");
    require(cudaStreamSynchronize(stream), "packing weights");
  }

  std::vector<mx::array> inputs() const override { return {packed_}; }
  bool takes_bias() const override { return true; }

  void evaluate(const std::vector<mx::array>& operands, mx::array& y,
                const mx::Stream& stream) const override {
    if (stream.device != mx::Device::gpu)
      fail(Blame::kInput, "a matrix packed for a GPU was evaluated on the processor");
    CommandEncoder& encoder = mx::cu::get_command_encoder(stream);
    const cudaStream_t queue = stream_of_encoder(encoder);
    const auto rows = static_cast<std::uint32_t>(operands[0].size() / k_);
    y.set_data(pool_->allocate(y.nbytes(), queue));
    for (const mx::array& operand : operands) encoder.set_input_array(operand);
    encoder.set_output_array(y);
    encoder.add_temporary(operands[0]);
    Node node(encoder);
    const void* bias = operands.size() > 2 ? address_of(operands[2]) : nullptr;
    require(kernels::cuda::cut_run(plan_, rows, address_of(operands[1]), address_of(operands[0]),
                                   address_of(y), {.sink = &node}, bias),
            "launching a kernel");
  }

 private:
  CutPlan plan_;
  std::shared_ptr<OutputPool> pool_;
  mx::array packed_;
};

class CudaEngine final : public Engine {
 public:
  CudaEngine() {
    const kernels::cuda::SlabSupport support = kernels::cuda::slab_support();
    require(support.error, "Tare's kernels do not run on this GPU");
    clusters_ = support.clusters;
  }

  std::string library() const override { return kernels::cuda::library_text(TARE_VERSION); }

  bool has(const std::string& arm, std::uint32_t type) const override {
    return arm == "tare-cuda" &&
           (type == TARE_BF16 || type == TARE_MLX_INT4_G64 || type == TARE_MLX_INT8_G64);
  }

  std::shared_ptr<const Matrix> pack(const std::string& arm, const Weights& weights) override {
    if (!has(arm, weights.type))
      fail(Blame::kInput, "there is no kernel of '{}' for {} weights on a GPU", arm,
           formats::type_name(weights.type));
    const CutPlan plan =
        kernels::cuda::choose_cut_plan({weights.type, weights.k, weights.n, clusters_});
    return std::make_shared<CudaMatrix>(plan, pool_, weights);
  }

 private:
  bool clusters_ = false;
  std::shared_ptr<OutputPool> pool_ = std::make_shared<OutputPool>(0);
};

}  // namespace

std::shared_ptr<Engine> make_cuda_engine() {
  return std::make_shared<CudaEngine>();
}

std::string cuda_device() {
  const device::Accelerator accelerator = device::inspect_cuda();
  return fmt::format("{}, driver {}", accelerator.name, accelerator.driver);
}

}  // namespace tare::in_mlx
