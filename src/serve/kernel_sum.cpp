#include "serve/kernel_sum.h"

namespace tare::serve {

KernelSum kernel_sum(const plan::Plan& plan, const problem::Model& model, std::uint32_t rows) {
  KernelSum sum;
  for (const problem::Projection& projection : model.projections) {
    sum.matrices += projection.count;
    const std::uint32_t type = problem::weight_type(projection.stored);
    if (type == 0) continue;
    const std::uint32_t own_rows = projection.name == "lm_head" ? 1 : rows;
    const plan::Decision* decision = plan::find(
        plan, problem::problem_of(projection, own_rows, type, problem::usual_activations(type)));
    if (decision == nullptr || decision->decision != judge::Decision::kServe) continue;
    const auto count = static_cast<double>(projection.count);
    sum.served += projection.count;
    sum.incumbent_seconds += count * decision->incumbent_seconds;
    sum.candidate_seconds += count * decision->candidate_seconds;
    sum.packed_bytes += projection.count * decision->prepared_bytes;
  }
  return sum;
}

}  // namespace tare::serve
