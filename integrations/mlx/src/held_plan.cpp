#include "held_plan.h"

#include <mlx/version.h>

#include <array>

#include "base/error.h"
#include "matrix.h"

namespace tare::in_mlx {
namespace {

using Why = std::array<char, 512>;

tare_plan* open(const std::string& path) {
  Why why{};
  tare_plan* plan = tare_plan_open(path.c_str(), why.data(), why.size());
  if (plan == nullptr) fail(Blame::kInput, "{}", why.data());
  return plan;
}

tare_problem problem_of(std::uint32_t type, std::uint64_t k, std::uint64_t n, std::uint32_t rows) {
  return {.k = k,
          .n = n,
          .rows = rows,
          .weights = type,
          .activations = TARE_BF16,
          .output = TARE_BF16,
          .accumulator = TARE_F32,
          .bias = 0};
}

}  // namespace

HeldPlan::HeldPlan(const std::string& path, const std::string& device, std::string kernels)
    : arm_(device == "gpu" ? "mlx-cuda" : "mlx"),
      title_(std::string(device == "gpu" ? "MLX CUDA " : "MLX ") + mx::version()),
      kernels_(std::move(kernels)),
      accelerator_(device == "gpu" ? cuda_device() : ""),
      plan_(open(path)) {
  Why why{};
  const tare_plan_engine asks = engine();
  if (tare_plan_holds(plan_.get(), &asks, why.data(), why.size()) != 0)
    fail(Blame::kInput, "the plan '{}' does not hold here: {}", path, why.data());
}

tare_plan_engine HeldPlan::engine() const {
  return {.arm = arm_.c_str(),
          .title = title_.c_str(),
          .kernels = kernels_.c_str(),
          .accelerator = accelerator_.c_str()};
}

std::vector<Served> HeldPlan::served(std::uint32_t type, std::uint64_t k, std::uint64_t n) const {
  const tare_plan_engine asks = engine();
  tare_problem problem = problem_of(type, k, n, 1);
  std::vector<std::uint32_t> rows(tare_plan_rows(plan_.get(), &asks, &problem, nullptr, 0));
  tare_plan_rows(plan_.get(), &asks, &problem, rows.data(), rows.size());
  std::vector<Served> all;
  for (const std::uint32_t one : rows) {
    problem.rows = one;
    tare_plan_decision decision{};
    if (tare_plan_serves(plan_.get(), &asks, &problem, &decision, nullptr, 0) == 0)
      all.push_back({one, decision.candidate, decision.equality});
  }
  return all;
}

std::string HeldPlan::refusal(std::uint32_t type, std::uint64_t k, std::uint64_t n,
                              std::uint32_t rows) const {
  Why why{};
  const tare_plan_engine asks = engine();
  const tare_problem problem = problem_of(type, k, n, rows);
  tare_plan_serves(plan_.get(), &asks, &problem, nullptr, why.data(), why.size());
  return why.data();
}

std::uint32_t threads_of_plan(const std::string& path) {
  const std::unique_ptr<tare_plan, void (*)(tare_plan*)> plan(open(path), tare_plan_close);
  return tare_plan_threads(plan.get());
}

}  // namespace tare::in_mlx
