#include "kernels/cuda/cut.h"

#include "kernels/cuda/belt.h"
#include "kernels/cuda/slab.h"

namespace tare::kernels::cuda {

cudaError_t cut_prepare(const CutPlan& plan) {
  const auto* slab = std::get_if<SlabPlan>(&plan);
  return slab != nullptr ? slab_prepare(*slab) : belt_prepare();
}

cudaError_t cut_pack(const CutPlan& plan, const void* weights, void* packed, cudaStream_t stream) {
  if (const auto* slab = std::get_if<SlabPlan>(&plan))
    return slab_pack(*slab, weights, packed, stream);
  return belt_pack(std::get<BeltPlan>(plan), weights, packed, stream);
}

cudaError_t cut_run(const CutPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                    void* y, bool programmatic, cudaStream_t stream) {
  if (const auto* slab = std::get_if<SlabPlan>(&plan))
    return slab_run(*slab, rows, packed, x, y, programmatic, stream);
  return belt_run(std::get<BeltPlan>(plan), rows, packed, x, y, programmatic, stream);
}

}  // namespace tare::kernels::cuda
