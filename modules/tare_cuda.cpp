// Our own CUDA kernels as an arm: "tare-cuda", rows 1 to 32 in bf16, of bf16 weights and of weights
// of 4 and 8 bits by group. Their type, k and n choose the kernel and how it cuts the projection
// (docs/kernels/cuda-plans.md, cuda-grouped.md), rows do not.
#include <algorithm>
#include <array>
#include <string>

#include "device_arm_table.h"
#include "device_executor.h"
#include "kernels/cuda/cut.h"
#include "kernels/cuda/identity.h"
#include "kernels/cuda/slab.h"

namespace {

using tare::kernels::cuda::choose_cut_plan;
using tare::kernels::cuda::cut_pack;
using tare::kernels::cuda::cut_prepare;
using tare::kernels::cuda::cut_run;
using tare::kernels::cuda::CutPlan;
using tare::kernels::cuda::kMostCutRows;
using tare::modules::DeviceDispatch;
using tare::modules::DeviceMemory;
using tare::modules::require;

}  // namespace

struct tare_executor final : tare::modules::DeviceExecutor {
  tare_executor(const tare_problem& problem, std::uint32_t slots, const CutPlan& plan_)
      : DeviceExecutor(problem),
        plan(plan_),
        slot_bytes(weight_bytes(plan_)),
        packed(slots * slot_bytes),
        biases(problem.bias == 0 ? 0 : slots * bias_bytes()) {
    require(cut_prepare(plan), "preparing the kernel");
  }

  void bind(std::uint32_t slot, const void* weights) {
    const tare::formats::Layout layout = tare::formats::layout_of(problem_);
    if (raw.size() == 0) raw = DeviceMemory(layout.total_bytes);
    require(
        cudaMemcpyAsync(raw.data(), weights, layout.total_bytes, cudaMemcpyHostToDevice, stream()),
        "copying weights to the device");
    if (problem_.bias != 0)
      require(cudaMemcpyAsync(bias_of(slot), raw.data() + layout.output_bias, kElement * problem_.n,
                              cudaMemcpyDeviceToDevice, stream()),
              "copying the bias");
    require(cut_pack(plan, raw.data(), slot_of(slot), stream()), "packing weights");
    require(cudaStreamSynchronize(stream()), "packing weights");
  }

  void set_rows(std::uint32_t rows) {
    if (rows > kMostCutRows)
      tare::fail(tare::Blame::kArm, "tare-cuda computes 1 to {} rows; the problem has {}",
                 kMostCutRows, rows);
    problem_.rows = rows;
  }

  void stage(const tare_region& wanted) {
    raw = DeviceMemory();
    programmatic = (wanted.flags & TARE_REGION_PROGRAMMATIC) != 0;
    DeviceExecutor::stage(wanted);
  }

  void describe(tare_dispatch_record& record) const {
    const std::string configuration =
        tare::kernels::cuda::describe(plan) + (programmatic ? "; programmatic launch" : "");
    tare::modules::fill(record,
                        {fmt::format("tare-{}:{}", kernel_name(plan), product_name(plan)),
                         isa_of(tare::modules::opened_device()), configuration,
                         tare::kernels::cuda::library_text(TARE_VERSION)},
                        0U);
  }

  std::byte* slot_of(std::uint32_t slot) const { return packed.data() + slot * slot_bytes; }
  std::size_t bias_bytes() const { return (kElement * problem_.n + 255) / 256 * 256; }  // a slot's
  std::byte* bias_of(std::uint32_t slot) const {  // null: none
    return problem_.bias == 0 ? nullptr : biases.data() + slot * bias_bytes();
  }

  void record(std::span<const DeviceDispatch> dispatches, bool overlap,
              cudaStream_t stream) override {
    for (const DeviceDispatch& dispatch : dispatches)
      require(cut_run(plan, problem_.rows, slot_of(dispatch.slot), dispatch.x, dispatch.y,
                      {.programmatic = overlap, .stream = stream}, bias_of(dispatch.slot)),
              "launching the kernel");
  }

  CutPlan plan;
  std::size_t slot_bytes;  // of packed weights
  DeviceMemory packed, biases;
  DeviceMemory raw;  // of one slot, while weights are bound
  bool programmatic = false;
};

namespace {

using tare::modules::fenced;

int open_kernels(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    tare::modules::open_device([] { return tare::kernels::cuda::slab_support().error; });
  });
}

CutPlan plan_of(const tare_problem& problem) {
  return choose_cut_plan(
      {problem.weights, problem.k, problem.n, tare::kernels::cuda::slab_support().clusters});
}

void require_supported(const tare_problem& problem) {
  if (problem.activations != TARE_BF16)
    tare::fail(tare::Blame::kArm,
               "tare-cuda computes with bf16 activations only; the problem has {}",
               tare::modules::type_name(problem.activations));
  tare::modules::require_common(problem, "tare-cuda", std::uint64_t{1} << 31U, {TARE_BF16});
  if (problem.rows > kMostCutRows)
    tare::fail(tare::Blame::kArm, "tare-cuda computes 1 to {} rows; the problem has {}",
               kMostCutRows, problem.rows);
  plan_of(problem);
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_supported(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    require_supported(*problem);
    *executor = new tare_executor(*problem, slots, plan_of(*problem));
  });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm kernels = tare::modules::device_arm_table<tare_executor>(
      {0U, "tare-cuda", "Tare CUDA", TARE_VERSION}, {open_kernels, supports, prepare});
  return index == 0 ? &kernels.arm : nullptr;
}
