// MLX's kernels alone on its CUDA device: the whole region becomes one CUDA graph of MLX's before
// it is timed (MLX_MAX_OPS_PER_BUFFER), behind a gate that launch() opens. This is what other arms'
// graphs are to be compared with.
#include <cuda.h>

#include <atomic>
#include <cstdlib>

#include "device_region.h"
#include "mlx_cuda_arm.h"

namespace {

using tare::modules::fenced;
using tare::modules::require;

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

}  // namespace

struct tare_executor : tare::modules::MlxCudaExecutor {
  using MlxCudaExecutor::MlxCudaExecutor;
  ~tare_executor() {
    fenced([&] { drop_queued(); });
  }
  tare_executor(const tare_executor&) = delete;
  tare_executor& operator=(const tare_executor&) = delete;

  void stage(const tare_region& region) {
    drop_queued();
    take_region(region);
  }

  bool launch() noexcept {
    return fenced([&] {
             running_ = true;
             if (!queued_) queue();
             gate_.open();
           }) == 0;
  }

  bool fence() noexcept {
    const bool done = fenced([&] { running_ ? finish() : finish_in_front(); }) == 0;
    if (!done) fenced([&] { drop_queued(); });
    return done;
  }

  void describe(tare_dispatch_record& record) const {
    describe_as(record, "one CUDA graph of MLX's, queued before it is timed", "before the region");
  }

 private:
  void finish() {
    tare::modules::wait_for_mlx();
    running_ = queued_ = false;
  }

  // The opening dispatch of a region is over, and the region itself comes next.
  void finish_in_front() {
    finish_host_dispatches();
    if (!staged().empty()) queue();
  }

  // The region, waiting behind the gate.
  void queue() {
    gate_.close(tare::modules::mlx_stream());
    clock().begin();
    build_graph();
    evaluate();
    clock().end();
    queued_ = true;
  }

  // A region that was never launched must not hold up what comes next.
  void drop_queued() {
    gate_.open();
    tare::modules::wait_for_mlx();
    queued_ = running_ = false;
    forget();
  }

  Gate gate_;
  bool queued_ = false, running_ = false;
};

namespace {

int open_library(const tare_services*, char* why, size_t why_size) {
  // Read by MLX when its first stream is made.
  setenv("MLX_MAX_OPS_PER_BUFFER", "1000000000", 1);
  setenv("MLX_MAX_MB_PER_BUFFER", "1000000000", 1);
  return tare::modules::open_mlx_cuda(why, why_size);
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm arm = tare::modules::mlx_cuda_arm<tare_executor>(
      "mlx-cuda-queued", "MLX CUDA queued", open_library);
  return index == 0 ? &arm.arm : nullptr;
}
