#include "kernels/cuda/cut.h"

#include "kernels/cuda/belt.h"
#include "kernels/cuda/grouped.h"
#include "kernels/cuda/slab.h"

namespace tare::kernels::cuda {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

cudaError_t cut_prepare(const CutPlan& plan) {
  return std::visit(Overloaded{[](const SlabPlan& slab) { return slab_prepare(slab); },
                               [](const BeltPlan&) { return belt_prepare(); },
                               [](const GroupedPlan& grouped) { return grouped_prepare(grouped); }},
                    plan);
}

cudaError_t cut_pack(const CutPlan& plan, const void* weights, void* packed, cudaStream_t stream) {
  return std::visit(
      Overloaded{[&](const SlabPlan& slab) { return slab_pack(slab, weights, packed, stream); },
                 [&](const BeltPlan& belt) { return belt_pack(belt, weights, packed, stream); },
                 [&](const GroupedPlan& grouped) {
                   return grouped_pack(grouped, weights, packed, stream);
                 }},
      plan);
}

cudaError_t cut_run(const CutPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                    void* y, const Way& way, const void* bias) {
  return std::visit(
      Overloaded{
          [&](const SlabPlan& slab) { return slab_run(slab, rows, packed, x, y, way, bias); },
          [&](const BeltPlan& belt) { return belt_run(belt, rows, packed, x, y, way, bias); },
          [&](const GroupedPlan& grouped) {
            return grouped_run(grouped, rows, packed, x, y, way, bias);
          }},
      plan);
}

}  // namespace tare::kernels::cuda
