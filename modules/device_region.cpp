#include "device_region.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tare::modules {
namespace {

// The device's copy is never smaller than this, so that it is not allocated anew for every row
// count.
constexpr std::size_t kLeastCopy = 1U << 20U;

void grow(DeviceMemory& memory, std::size_t bytes) {
  if (memory.size() < bytes) memory = DeviceMemory(std::max(bytes, kLeastCopy));
}

Device& found() {
  static Device device;
  return device;
}

std::size_t offset(const void* address, const void* base) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) -
                                  static_cast<const std::byte*>(base));
}

const char* advice(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation:
      return ": there is too little device memory; give a smaller --ring, or end what else uses "
             "the "
             "GPU (nvidia-smi)";
    case cudaErrorNoDevice:
      return ": there is no GPU here";
    case cudaErrorInsufficientDriver:
      return ": the NVIDIA driver is missing or older than CUDA 13 needs; update it to 580 or "
             "later";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return ": built for other GPU architectures than this one; configure with "
             "-DTARE_CUDA_ARCHITECTURES=... and build again";
    case cudaErrorDevicesUnavailable:
      return ": the GPU is busy, or in exclusive mode";
    default:
      return "";
  }
}

}  // namespace

void require(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // so that the next check does not see it again
  fail(Blame::kMachine, "{} failed: {}{}", what, cudaGetErrorString(result), advice(result));
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "allocating device memory");
  data_ = static_cast<std::byte*>(memory);
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
DeviceMemory::~DeviceMemory() {
  cudaFree(data_);
}

DeviceRegion::DeviceRegion() {
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  require(cudaEventCreate(&before_), "making an event");
  require(cudaEventCreate(&after_), "making an event");
}

DeviceRegion::~DeviceRegion() {
  forget_graph();
  cudaEventDestroy(after_);
  cudaEventDestroy(before_);
  cudaStreamDestroy(stream_);
}

void DeviceRegion::stage(const tare_region& region, const Record& record) {
  forget_graph();
  flags_ = region.flags;
  copy_in(region);
  dispatches_.clear();
  dispatches_.reserve(region.count);
  for (std::uint64_t i = 0; i < region.count; ++i) {
    const tare_dispatch& dispatch = region.dispatches[i];
    dispatches_.push_back({dispatch.slot, inputs_.data() + offset(dispatch.x, region.inputs),
                           outputs_.data() + offset(dispatch.y, region.outputs)});
  }
  if ((flags_ & TARE_REGION_STREAM) == 0) capture(record);
  require(cudaStreamSynchronize(stream_), "making a region ready");
}

void DeviceRegion::copy_in(const tare_region& region) {
  grow(inputs_, region.input_bytes);
  grow(outputs_, region.output_bytes);
  host_outputs_ = region.outputs;
  output_bytes_ = region.output_bytes;
  const auto copy = [&](const DeviceMemory& into, const void* from, std::size_t bytes) {
    require(cudaMemcpyAsync(into.data(), from, bytes, cudaMemcpyHostToDevice, stream_),
            "copying to the device");
  };
  copy(inputs_, region.inputs, region.input_bytes);
  copy(outputs_, region.outputs, region.output_bytes);
}

void DeviceRegion::capture(const Record& record) {
  require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  cudaGraph_t graph = nullptr;
  try {
    record(dispatches_, (flags_ & TARE_REGION_PROGRAMMATIC) != 0, stream_);
  } catch (...) {
    cudaStreamEndCapture(stream_, &graph);
    cudaGraphDestroy(graph);
    throw;
  }
  require(cudaStreamEndCapture(stream_, &graph), "capturing a graph");
  const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  require(made, "instantiating a graph");
  require(cudaGraphUpload(graph_, stream_), "uploading a graph");
}

bool DeviceRegion::launch(const Record& record) noexcept {
  if (cudaEventRecord(before_, stream_) != cudaSuccess) return false;
  if (graph_ != nullptr) {
    if (cudaGraphLaunch(graph_, stream_) != cudaSuccess) return false;
  } else {
    try {
      record(dispatches_, (flags_ & TARE_REGION_PROGRAMMATIC) != 0, stream_);
    } catch (...) {
      return false;
    }
  }
  return cudaEventRecord(after_, stream_) == cudaSuccess;
}

bool DeviceRegion::fence() noexcept {
  return cudaStreamSynchronize(stream_) == cudaSuccess;
}

double DeviceRegion::collect() {
  require(cudaMemcpyAsync(host_outputs_, outputs_.data(), output_bytes_, cudaMemcpyDeviceToHost,
                          stream_),
          "copying from the device");
  require(cudaStreamSynchronize(stream_), "copying from the device");
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, before_, after_), "reading the device's clock");
  return 1e-3 * static_cast<double>(milliseconds);
}

bool DeviceRegion::enqueue(std::uint32_t slot, const void* x, std::size_t x_bytes, void* y,
                           std::size_t y_bytes, const Record& record) noexcept {
  try {
    grow(x_, x_bytes);
    grow(y_, y_bytes);
    require(cudaMemcpyAsync(x_.data(), x, x_bytes, cudaMemcpyHostToDevice, stream_), "copying x");
    // What y holds goes along, so that an element that is not written keeps its poison.
    require(cudaMemcpyAsync(y_.data(), y, y_bytes, cudaMemcpyHostToDevice, stream_), "copying y");
    const DeviceDispatch dispatch{slot, x_.data(), y_.data()};
    record({&dispatch, 1}, false, stream_);
    require(cudaMemcpyAsync(y, y_.data(), y_bytes, cudaMemcpyDeviceToHost, stream_), "copying y");
    return true;
  } catch (...) {
    return false;
  }
}

void DeviceRegion::forget_graph() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  graph_ = nullptr;
}

void open_device(cudaError_t (*kernels_run)()) {
  require(cudaSetDevice(0), "opening the GPU");
  Device& device = found();
  int processors = 0;
  require(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "asking the GPU");
  require(cudaDeviceGetAttribute(&device.major, cudaDevAttrComputeCapabilityMajor, 0),
          "asking the GPU");
  require(cudaDeviceGetAttribute(&device.minor, cudaDevAttrComputeCapabilityMinor, 0),
          "asking the GPU");
  device.processors = static_cast<unsigned>(processors);
  require(kernels_run(), "looking for the kernels");
}

const Device& opened_device() {
  return found();
}

std::string isa_of(const Device& device) {
  return fmt::format("sm_{}{}", device.major, device.minor);
}

}  // namespace tare::modules
