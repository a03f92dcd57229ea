// Our own CUDA kernels as arms: "tare-slab", rows 1 to 32 in bf16 (docs/kernels/cuda-slab.md).
#include <algorithm>
#include <array>
#include <string>

#include "device_arm_table.h"
#include "device_region.h"
#include "kernels/cuda/slab.h"

namespace {

using tare::kernels::cuda::choose_slab_plan;
using tare::kernels::cuda::kMostSlabRows;
using tare::kernels::cuda::slab_plans;
using tare::kernels::cuda::slab_prepare;
using tare::kernels::cuda::SlabPlan;
using tare::modules::Device;
using tare::modules::DeviceDispatch;
using tare::modules::DeviceMemory;
using tare::modules::DeviceRegion;
using tare::modules::require;

// What open() finds out; the ABI has no place to hand it from call to call.
struct Opened {
  Device device;
  bool clusters = false;
};
Opened& opened() {
  static Opened state;
  return state;
}

constexpr std::size_t kElement = 2;  // bytes of a bf16

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots, const SlabPlan& plan_)
      : problem(problem_), plan(plan_), packed(slots * plan_.weight_bytes()) {
    require(slab_prepare(plan), "preparing the slab kernel");
  }

  void bind(std::uint32_t slot, const void* weights) {
    const std::size_t bytes = problem.n * problem.k * kElement;
    if (raw.size() == 0) raw = DeviceMemory(bytes);
    const cudaStream_t stream = region.stream();
    require(cudaMemcpyAsync(raw.data(), weights, bytes, cudaMemcpyHostToDevice, stream),
            "copying weights to the device");
    require(slab_pack(plan, raw.data(), slot_of(slot), stream), "packing weights");
    require(cudaStreamSynchronize(stream), "packing weights");
  }

  void set_rows(std::uint32_t rows) {
    if (rows > kMostSlabRows)
      tare::fail(tare::Blame::kArm, "tare-slab computes 1 to {} rows; the problem has {}",
                 kMostSlabRows, rows);
    problem.rows = rows;
  }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    return region.enqueue(slot, x, problem.rows * problem.k * kElement, y,
                          problem.rows * problem.n * kElement, recorder());
  }
  void stage(const tare_region& wanted) {
    raw = DeviceMemory();
    programmatic = (wanted.flags & TARE_REGION_PROGRAMMATIC) != 0;
    region.stage(wanted, recorder());
  }
  bool launch() noexcept { return region.launch(recorder()); }
  bool fence() noexcept { return region.fence(); }
  double collect() { return region.collect(); }

  void describe(tare_dispatch_record& record) const {
    const Device& device = opened().device;
    const std::string configuration = fmt::format(
        "packed [n/16][k/32][16][32]; strips {}, warps_k {}, splits {}, steps {}{}", plan.strips,
        plan.warps_k, plan.splits, plan.steps, programmatic ? "; programmatic launch" : "");
    tare::modules::fill(
        record,
        {"tare-slab:mma.m16n8k16", fmt::format("sm_{}{}", device.major, device.minor),
         configuration, "Tare " TARE_VERSION},
        0U);
  }

  std::byte* slot_of(std::uint32_t slot) const {
    return packed.data() + slot * plan.weight_bytes();
  }

  tare::modules::Record recorder() {
    return [this](std::span<const DeviceDispatch> dispatches, bool overlap, cudaStream_t stream) {
      for (const DeviceDispatch& dispatch : dispatches)
        require(slab_run(plan, problem.rows, slot_of(dispatch.slot), dispatch.x, dispatch.y,
                         overlap, stream),
                "launching the slab kernel");
    };
  }

  tare_problem problem;
  SlabPlan plan;
  DeviceMemory packed;
  DeviceMemory raw;  // of one slot, while weights are bound
  DeviceRegion region;
  bool programmatic = false;
};

namespace {

using tare::modules::fenced;

int open_slab(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    opened().device =
        tare::modules::open_device([] { return tare::kernels::cuda::slab_support().error; });
    opened().clusters = tare::kernels::cuda::slab_support().clusters;
  });
}

void require_supported(const tare_problem& problem) {
  tare::modules::require_bf16(problem, "tare-slab", std::uint64_t{1} << 31U);
  if (problem.rows > kMostSlabRows)
    tare::fail(tare::Blame::kArm, "tare-slab computes 1 to {} rows; the problem has {}",
               kMostSlabRows, problem.rows);
  if (slab_plans(problem.k, problem.n, opened().clusters).empty())
    tare::fail(tare::Blame::kArm,
               "tare-slab holds the weights of a dot product in registers: k {} "
               "is too long for it",
               problem.k);
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_supported(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    require_supported(*problem);
    const auto plan = choose_slab_plan(slab_plans(problem->k, problem->n, opened().clusters));
    *executor = new tare_executor(*problem, slots, plan);
  });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm slab = tare::modules::device_arm_table<tare_executor>(
      {0U, "tare-slab", "Tare slab", TARE_VERSION}, {open_slab, supports, prepare});
  return index == 0 ? &slab.arm : nullptr;
}
