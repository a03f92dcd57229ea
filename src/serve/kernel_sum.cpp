#include "serve/kernel_sum.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "formats/weight_format.h"
#include "problem/problem.h"

namespace tare::serve {
namespace {

bool same(const Projection& a, const Projection& b) {
  return a.weights == b.weights && a.k == b.k && a.n == b.n && a.rows == b.rows;
}

// Of the product at that place of every batch.
double median_seconds(std::span<const Projection> profile, std::size_t at, std::size_t each) {
  std::vector<double> seconds;
  for (; at < profile.size(); at += each) seconds.push_back(profile[at].seconds);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

// With so many outputs.
const plan::Decision* serving(const plan::Plan& plan, const Projection& product, std::uint64_t n) {
  const std::uint32_t type = formats::type_number(product.type);
  if (type == 0) return nullptr;
  const plan::Decision* decision = plan::find(
      plan,
      {product.k, n, product.rows, type, problem::usual_activations(type), TARE_BF16, TARE_F32, 0});
  const bool serves = decision != nullptr && decision->decision == judge::Decision::kServe;
  return serves ? decision : nullptr;
}

}  // namespace

const plan::Decision* serving(const plan::Plan& plan, const Projection& product) {
  const plan::Decision* together =
      product.together > product.n ? serving(plan, product, product.together) : nullptr;
  return together != nullptr ? together : serving(plan, product, product.n);
}

KernelSum kernel_sum(const plan::Plan& plan, std::span<const Projection> without,
                     std::span<const Projection> with, std::uint64_t batches) {
  const std::size_t each = batches == 0 ? 0 : without.size() / batches;
  if (each * batches != without.size() || !std::ranges::equal(without, with, same))
    fail(Blame::kArm, "The model multiplies other matrices with the plan than without.");
  KernelSum sum;
  for (std::size_t i = 0; i < each; ++i) {
    ++sum.matrices;
    const plan::Decision* decision = serving(plan, without[i]);
    if (decision == nullptr) continue;
    ++sum.served;
    // Of a kernel that serves several, as much as the product is of them.
    const double share =
        static_cast<double>(without[i].n) / static_cast<double>(decision->problem.n);
    sum.incumbent_seconds += share * decision->incumbent_seconds;
    sum.candidate_seconds += share * decision->candidate_seconds;
    sum.engine_seconds += median_seconds(without, i, each);
    sum.served_seconds += median_seconds(with, i, each);
  }
  return sum;
}

}  // namespace tare::serve
