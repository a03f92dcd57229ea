#include "chain_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"

namespace tare::app {
namespace {

bool alike(const tare_problem& a, const tare_problem& b) {
  return std::tie(a.k, a.n, a.weights, a.activations) ==
         std::tie(b.k, b.n, b.weights, b.activations);
}

double bytes_of(const problem::Matrix& matrix, const ProblemOf& problem_of) {
  return weigh::weight_bytes(problem_of(matrix));
}

// How many layers fit, from the first on.
std::uint64_t layers_within(const problem::Model& model, const ProblemOf& problem_of,
                            double most_bytes) {
  std::map<std::uint64_t, double> layers;
  double bytes = 0;  // of what belongs to no layer
  for (const problem::Matrix& matrix : model.matrices)
    (matrix.layer ? layers[*matrix.layer] : bytes) += bytes_of(matrix, problem_of);
  std::uint64_t fit = 0;
  for (const auto& [layer, own] : layers) {
    bytes += own;
    if (bytes > most_bytes) break;
    ++fit;
  }
  if (fit == 0 && bytes > most_bytes)
    fail(Blame::kMachine,
         "Not enough memory for a chain: one layer and what belongs to none are {:.2f} GB, and an "
         "arm may take {:.2f} GB here. Close other programs.",
         bytes / 1e9, most_bytes / 1e9);
  return fit;
}

std::uint64_t layers_of(const problem::Model& model) {
  std::map<std::uint64_t, bool> layers;
  for (const problem::Matrix& matrix : model.matrices)
    if (matrix.layer) layers[*matrix.layer] = true;
  return layers.size();
}

std::size_t part_of(std::vector<weigh::ChainPart>& parts, const tare_problem& problem,
                    const problem::Matrix& matrix) {
  const auto found = std::ranges::find_if(parts, [&](const weigh::ChainPart& part) {
    return alike(part.problem, problem) && part.parts == matrix.parts;
  });
  if (found != parts.end()) return static_cast<std::size_t>(found - parts.begin());
  parts.push_back({problem, 0, matrix.parts});
  return parts.size() - 1;
}

}  // namespace

ChainPlan plan_chain(const problem::Model& model, const ProblemOf& problem_of, double most_bytes) {
  if (model.matrices.empty())
    fail(Blame::kInput, "'{}' says no matrices that could be a chain: give a model's file.",
         model.name);
  ChainPlan plan;
  plan.all_layers = layers_of(model);
  plan.layers = layers_within(model, problem_of, most_bytes);
  std::map<std::uint64_t, std::uint64_t> seen;  // layers, numbered from 0 in their order
  for (const problem::Matrix& matrix : model.matrices) {
    if (matrix.layer && seen.emplace(*matrix.layer, seen.size()).first->second >= plan.layers)
      continue;
    const std::size_t part = part_of(plan.parts, problem_of(matrix), matrix);
    plan.steps.push_back({part, static_cast<std::uint32_t>(plan.parts[part].count++)});
  }
  return plan;
}

std::string chain_name(const ChainPlan& plan) {
  if (plan.layers == plan.all_layers) return fmt::format("chain of {} layers", plan.layers);
  return fmt::format("chain of {}/{} layers", plan.layers, plan.all_layers);
}

}  // namespace tare::app
