#include "chain_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"

namespace tare::app {
namespace {

bool alike(const tare_problem& a, const tare_problem& b) {
  return std::tie(a.k, a.n, a.weights, a.activations, a.bias) ==
         std::tie(b.k, b.n, b.weights, b.activations, b.bias);
}

double bytes_of(const problem::Matrix& matrix, const ProblemOf& problem_of) {
  return weigh::weight_bytes(problem_of(matrix));
}

// Weights of each layer, and of what belongs to none.
struct Weights {
  std::map<std::uint64_t, double> layers;
  double others = 0;
};

Weights weights_of(const problem::Model& model, const ProblemOf& problem_of) {
  Weights weights;
  for (const problem::Matrix& matrix : model.matrices)
    (matrix.layer ? weights.layers[*matrix.layer] : weights.others) += bytes_of(matrix, problem_of);
  return weights;
}

// An lm_head of 1.2 GB (Qwen3-8B) in an arm of 3 GB is no chain of layers; and its row tells of it.
bool leaves_out_others(const Weights& weights, double most_bytes) {
  return weights.others > most_bytes / 2 && !weights.layers.empty();
}

// How many layers fit, from the first on, beside so many bytes.
std::uint64_t layers_within(const Weights& weights, double bytes, double most_bytes) {
  std::uint64_t fit = 0;
  for (const auto& [layer, own] : weights.layers) {
    bytes += own;
    if (bytes > most_bytes) break;
    ++fit;
  }
  if (fit == 0 && bytes > most_bytes)
    fail(Blame::kMachine,
         "Not enough memory for a chain: one layer is {:.2f} GB, and an arm may take {:.2f} GB "
         "here. Close other programs.",
         bytes / 1e9, most_bytes / 1e9);
  return fit;
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
  const Weights weights = weights_of(model, problem_of);
  const bool without_others = leaves_out_others(weights, most_bytes);
  plan.all_layers = weights.layers.size();
  plan.layers = layers_within(weights, without_others ? 0 : weights.others, most_bytes);
  std::map<std::uint64_t, std::uint64_t> seen;  // layers, numbered from 0 in their order
  for (const problem::Matrix& matrix : model.matrices) {
    if (!matrix.layer && without_others) {
      plan.left_out.push_back(matrix.name);
      continue;
    }
    if (matrix.layer && seen.emplace(*matrix.layer, seen.size()).first->second >= plan.layers)
      continue;
    const std::size_t part = part_of(plan.parts, problem_of(matrix), matrix);
    plan.steps.push_back({part, static_cast<std::uint32_t>(plan.parts[part].count++)});
  }
  return plan;
}

std::string chain_name(const ChainPlan& plan) {
  const std::string layers = plan.layers == plan.all_layers
                                 ? fmt::format("{} layers", plan.layers)
                                 : fmt::format("{}/{} layers", plan.layers, plan.all_layers);
  if (plan.left_out.empty()) return "chain of " + layers;
  return fmt::format("{} without {}", layers, fmt::join(plan.left_out, ", "));
}

}  // namespace tare::app
