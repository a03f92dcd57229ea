// MLX on its CUDA device as its users get it: a region builds MLX's lazy graph (launch) and
// evaluates it (fence). MLX then makes CUDA graphs of up to 100 operations by itself, while the
// first of them run. What that costs its host is in the region.

#include "mlx_cuda_arm.h"

using tare::modules::fenced;

struct tare_executor : tare::modules::MlxCudaExecutor {
  using MlxCudaExecutor::MlxCudaExecutor;

  void stage(const tare_region& region) {
    drop();
    take_region(region);
  }

  bool launch() noexcept {
    return fenced([&] {
             running_ = true;
             clock().begin();
             build_graph();
           }) == 0;
  }

  bool fence() noexcept {
    const bool done = fenced([&] { running_ ? finish() : finish_host_dispatches(); }) == 0;
    if (!done) fenced([&] { drop(); });
    return done;
  }

  void describe(tare_dispatch_record& record) const {
    describe_as(record, "lazy graph in launch, evaluated in fence; MLX_MAX_OPS_PER_BUFFER as it is",
                "in the region");
  }

 private:
  void finish() {
    running_ = false;
    evaluate();
    clock().end();
    tare::modules::wait_for_mlx();
  }

  // A region that was never fenced must not hold up what comes next.
  void drop() {
    tare::modules::wait_for_mlx();
    running_ = false;
    forget();
  }

  bool running_ = false;
};

namespace {

int open_library(const tare_services*, char* why, size_t why_size) {
  return tare::modules::open_mlx_cuda(why, why_size);
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm arm =
      tare::modules::mlx_cuda_arm<tare_executor>("mlx-cuda", "MLX CUDA", open_library);
  return index == 0 ? &arm.arm : nullptr;
}
