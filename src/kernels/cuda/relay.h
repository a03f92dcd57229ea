// The relay kernel: one row (bf16) through a chain of projections in one launch, each reading what
// the one before wrote, on a GPU of compute capability 9.0 or later. One thread block a
// multiprocessor stays from the first projection to the last. Weights do not depend on x, so one of
// its warps has the copy engine fetch them as far ahead as shared memory goes, through the pauses
// in which everybody waits for the last sums of a projection; outputs are handed over as values
// that are there or not yet, so that nobody waits for a counter or a fence. What a model computes
// between its projections is not in it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/relay_plan.h"

namespace tare::kernels::cuda {

// Lets the kernel use all the shared memory that a thread block can have; once a process and
// device.
cudaError_t relay_prepare();

// Packs W[n, k] (device memory, row-major, bf16) of one projection of one layer into its place of
// `packed`, plan.weight_bytes() of device memory.
cudaError_t relay_pack(const RelayPlan& plan, std::uint32_t layer, std::uint32_t projection,
                       const void* weights, void* packed, cudaStream_t stream);

// What launches of a plan leave to each other, in device memory: outputs of every projection, twice
// (a launch clears what the one after it waits for). Made ready by relay_ready(), once, or again
// after a launch that failed; two launches with the same may not run at the same time.
std::uint64_t relay_memory_bytes(const RelayPlan& plan);
cudaError_t relay_ready(const RelayPlan& plan, void* memory, cudaStream_t stream);

// How the warp that fetches tells the copy engine: for all warps that it serves in one instruction,
// or one after the other, which is half as fast. racecheck takes the one instruction for copies of
// every lane, and reports those that did not wait (docs/kernels/cuda-relay.md).
enum class RelayCopies { kAtOnce, kOneByOne };

// y[n of the last projection] from x[k of the first], device memory, 16-byte aligned. Only
// launches: can be captured into a graph. All thread blocks must run at once, so it is a
// cooperative launch, which fails where the GPU has fewer multiprocessors than the plan says.
// cudaErrorNotSupported below compute capability 9.0.
cudaError_t relay_run(const RelayPlan& plan, const void* packed, const void* x, void* y,
                      void* memory, cudaStream_t stream, RelayCopies copies = RelayCopies::kAtOnce);

}  // namespace tare::kernels::cuda
