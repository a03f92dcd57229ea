#include "model_weights.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "report/text.h"

namespace tare::app {
namespace {

bool is_wanted(const ModelChoice& choice, const problem::Matrix& matrix) {
  const bool named = std::ranges::find(choice.projections, matrix.name) != choice.projections.end();
  if (!choice.projections.empty() && !named) return false;
  return !choice.layer || matrix.layer == choice.layer || (!matrix.layer && named);
}

std::string title_of(const problem::Matrix& matrix) {
  return matrix.layer ? fmt::format("{} of layer {}", matrix.name, *matrix.layer) : matrix.name;
}

ModelMatrix taken(const problem::Model& model, const problem::Matrix& matrix) {
  if (problem::weight_type(matrix.stored) == 0)
    fail(Blame::kInput, "{}: '{}' is stored as {}, which nothing here multiplies.", model.source,
         matrix.tensor, report::printable(matrix.stored));
  ModelMatrix result;
  result.projection.name = matrix.name;
  result.projection.k = matrix.k;
  result.projection.n = matrix.n;
  result.projection.stored = matrix.stored;
  result.source = load::source_of(matrix);
  result.origin = {report::valid_utf8(model.name),    title_of(matrix), matrix.tensor,
                   report::valid_utf8(matrix.stored), model.source,     ""};
  return result;
}

}  // namespace

std::vector<ModelMatrix> matrices_of(const ModelChoice& choice) {
  std::vector<ModelMatrix> matrices;
  for (const std::string& file : choice.files) {
    problem::Model model = problem::read_model(file, problem::Want::kWeights);
    problem::leave_biases(model);  // the file's own weights are handed over alone
    problem::keep_only(model, choice.projections);
    std::set<std::tuple<std::string, std::uint64_t, std::uint64_t, std::string>> seen;
    for (const problem::Matrix& matrix : model.matrices)
      if (is_wanted(choice, matrix) &&
          seen.emplace(matrix.name, matrix.k, matrix.n, matrix.stored).second)
        matrices.push_back(taken(model, matrix));
  }
  if (matrices.empty())
    fail(Blame::kInput, "--layer {}: the models have no such layer.", choice.layer.value_or(0));
  return matrices;
}

}  // namespace tare::app
