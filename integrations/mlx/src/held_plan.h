// A plan that holds here, for MLX on one of its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tare/plan.h"

namespace tare::in_mlx {

// A row count of a matrix that the plan serves.
struct Served {
  std::uint32_t rows = 0;
  std::string arm;       // whose kernel
  std::string equality;  // "incumbent", "one-row", "self", "bounded"
};

class HeldPlan {
 public:
  // `device`: "cpu" or "gpu". `kernels`: Engine::library(). Throws tare::Error (kInput) with the
  // sentence that says why nothing of the file is to be served.
  HeldPlan(const std::string& path, const std::string& device, std::string kernels);

  std::uint32_t threads() const { return tare_plan_threads(plan_.get()); }
  // What is to run for y[rows, n] = x[rows, k] . W[n, k]^T, x and y in bf16, ascending rows.
  std::vector<Served> served(std::uint32_t type, std::uint64_t k, std::uint64_t n) const;
  // Why a row count is not, or "".
  std::string refusal(std::uint32_t type, std::uint64_t k, std::uint64_t n,
                      std::uint32_t rows) const;

 private:
  struct Close {
    void operator()(tare_plan* plan) const { tare_plan_close(plan); }
  };
  tare_plan_engine engine() const;

  std::string arm_, title_, kernels_, accelerator_;
  std::unique_ptr<tare_plan, Close> plan_;
};

// Of a plan's file, read without asking whether it holds: how many threads an engine must have.
// Throws as above where it cannot be read.
std::uint32_t threads_of_plan(const std::string& path);

}  // namespace tare::in_mlx
