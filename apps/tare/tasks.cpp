#include "tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "formats/weight_format.h"

namespace tare::app {
namespace {

// Precision is part of the problem: the weights' type is the one asked for, or the file's own, or
// bf16. f16 and f32 are weighed when they are asked for only: no engine is served with them.
std::uint32_t weights_of(const HeadroomOptions& options, const problem::Projection& projection) {
  if (!options.weights.empty()) return formats::type_number(options.weights);
  const std::uint32_t stored = problem::weight_type(projection.stored);
  const bool plain = stored == 0 || stored == TARE_F16 || stored == TARE_F32;
  return plain ? std::uint32_t{TARE_BF16} : stored;
}

std::uint32_t activations_of(const HeadroomOptions& options, std::uint32_t weights) {
  if (options.activations.empty()) return problem::usual_activations(weights);
  return formats::type_number(options.activations);
}

// Of all projections, also of those that a filter leaves out: what a token reads is counted with
// them.
void decide_types(const HeadroomOptions& options, problem::Model& model) {
  for (problem::Projection& projection : model.projections) {
    const std::uint32_t weights = weights_of(options, projection);
    projection.weighed = formats::type_name(weights);
    model.bytes_per_token +=
        static_cast<double>(projection.count) *
        formats::weight_bytes(weights, projection.k, projection.n, projection.bias);
  }
}

// What is stored otherwise than it is weighed: as the nearest format, or by shape alone.
void note_other_types(const HeadroomOptions& options, problem::Model& model) {
  std::set<std::string> others, near;
  for (const problem::Projection& projection : model.projections) {
    const problem::WeighedAs stored = problem::weighed_as(projection.stored);
    if (projection.stored.empty()) continue;
    if (stored.type != formats::type_number(projection.weighed))
      others.insert(projection.stored);
    else if (!stored.itself)
      near.insert(fmt::format(
          "stored as {}, {:.4g} bits a weight: weighed as {}, the nearest format, {:.4g} bits",
          projection.stored, stored.bits, projection.weighed,
          8 * formats::weight_bytes(stored.type, projection.k, 1) /
              static_cast<double>(projection.k)));
  }
  model.notes.insert(model.notes.end(), near.begin(), near.end());
  if (!others.empty())
    model.notes.push_back(fmt::format("stored as {}: weighed by its shapes, as {}",
                                      fmt::join(others, ", "),
                                      options.weights.empty() ? "bf16" : options.weights));
}

// A file, or one of the models that are built in.
problem::Model model_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    for (problem::Model& model : problem::default_models())
      if (model.name == path) return std::move(model);
  return problem::read_model(path);
}

bool alike(const tare_problem& a, const tare_problem& b) {
  return a.k == b.k && a.n == b.n && a.weights == b.weights && a.activations == b.activations &&
         a.bias == b.bias;
}

}  // namespace

std::vector<problem::Model> models_of(const HeadroomOptions& options) {
  std::vector<problem::Model> models;
  std::vector<std::string> kept = options.projections;
  for (const std::string& path : options.models) models.push_back(model_of(path));
  if (models.empty() && !options.shapes.empty() && !kept.empty())
    fail(Blame::kInput, "--projections chooses among those of a model: give --model, too.");
  if (models.empty() && options.shapes.empty()) {
    models = problem::default_models();
    if (kept.empty()) kept = {"q", "k", "v", "o"};
  }
  for (problem::Model& model : models) {
    options.bias ? problem::take_biases(model) : problem::leave_biases(model);
    if (options.fused) problem::fuse(model);
    decide_types(options, model);
    problem::keep_only(model, kept);
    note_other_types(options, model);
  }
  for (const std::string& shape : options.shapes) {
    models.push_back(problem::parse_shape(shape));
    problem::Projection& projection = models.back().projections.front();
    projection.stored = options.weights;
    if (options.bias) projection.bias = problem::usual_bias(weights_of(options, projection));
    decide_types(options, models.back());
  }
  return models;
}

std::vector<Task> tasks_of(const HeadroomOptions& options,
                           const std::vector<problem::Model>& models) {
  std::vector<Task> tasks;
  for (const problem::Model& model : models)
    for (const problem::Projection& projection : model.projections) {
      const std::uint32_t weights = formats::type_number(projection.weighed);
      const tare_problem problem =
          problem::problem_of(projection, 1, weights, activations_of(options, weights));
      auto task = std::find_if(tasks.begin(), tasks.end(), [&](const Task& t) {
        return alike(t.problem, problem) && t.parts == projection.parts;
      });
      if (task == tasks.end()) task = tasks.insert(tasks.end(), {problem, projection.parts, {}});
      task->owners.push_back({model.name, projection.name});
    }
  return tasks;
}

tare_problem problem_of_matrix(const HeadroomOptions& options, const problem::Model& model,
                               const problem::Matrix& matrix) {
  const auto projection = std::ranges::find_if(model.projections, [&](const auto& p) {
    return p.k == matrix.k && p.n == matrix.n && p.stored == matrix.stored &&
           p.parts == matrix.parts && p.bias == matrix.bias;
  });
  if (projection == model.projections.end())
    fail(Blame::kInput, "'{}' of '{}' is none of its projections.", matrix.name, model.name);
  const std::uint32_t weights = formats::type_number(projection->weighed);
  return problem::problem_of(*projection, 1, weights, activations_of(options, weights));
}

}  // namespace tare::app
