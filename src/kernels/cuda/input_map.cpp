#include "kernels/cuda/input_map.h"

#include "kernels/cuda/queue_plan.h"

namespace tare::kernels::cuda {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// Of the driver, which is not linked: modules load where there is none.
Encode find_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t result = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                              12000, cudaEnableDefault, &found);
  const bool there = result == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return there ? reinterpret_cast<Encode>(function) : nullptr;
}

}  // namespace

cudaError_t map_inputs(const void* x, std::uint64_t k, std::uint32_t rows, CUtensorMap& map) {
  static const Encode encode = find_encode();
  if (encode == nullptr) return cudaErrorInsufficientDriver;
  const cuuint64_t extents[2] = {k, rows}, row_bytes[1] = {2 * k};
  const cuuint32_t box[2] = {kBoxDepth, rows}, steps[2] = {1, 1};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(x), extents, row_bytes,
             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace tare::kernels::cuda
