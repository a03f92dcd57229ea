#include "prove_cases.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "formats/weight_format.h"
#include "problem/problem.h"

namespace tare::app {
namespace {

// Whole tiles, primes, and tails of every kind of unit that a kernel may count in.
constexpr const char* kDrawnShapes[] = {"1536x256", "1021x251", "1000x130"};

// The types of weights that a projection is proved with.
std::vector<std::uint32_t> weights_of(const ProveOptions& options,
                                      const problem::Projection& projection) {
  std::vector<std::uint32_t> types;
  for (const std::string& name : options.weights) types.push_back(formats::type_number(name));
  if (!types.empty()) return types;
  const std::uint32_t stored = problem::weight_type(projection.stored);
  return {stored == 0 ? std::uint32_t{TARE_BF16} : stored};
}

std::uint64_t whole_blocks(std::uint64_t k, std::uint32_t weights) {
  const std::uint64_t block = formats::format_of(weights).block;
  return (k + block - 1) / block * block;
}

bool is_drawn(const ProveOptions& options) {
  return options.models.empty() && options.shapes.empty();
}

std::vector<problem::Model> models_of(const ProveOptions& options) {
  std::vector<problem::Model> models;
  for (const std::string& path : options.models) {
    models.push_back(problem::read_model(path));
    options.bias ? problem::take_biases(models.back()) : problem::leave_biases(models.back());
    problem::keep_only(models.back(), options.projections);
  }
  for (const std::string& shape : options.shapes) models.push_back(problem::parse_shape(shape));
  if (!is_drawn(options)) return models;
  for (const char* shape : kDrawnShapes) models.push_back(problem::parse_shape(shape));
  return models;
}

tare_problem problem_of(const ProveOptions& options, const problem::Projection& projection,
                        std::uint32_t weights) {
  const std::uint32_t activations = options.activations.empty()
                                        ? problem::usual_activations(weights)
                                        : formats::type_number(options.activations);
  return problem::problem_of(projection, options.rows.back(), weights, activations);
}

std::vector<Case> model_cases_of(const ProveOptions& options) {
  if (options.bias)
    fail(Blame::kInput,
         "--bias: a bias is drawn, and --data model hands over a file's own weights: give one of "
         "them.");
  std::vector<Case> cases;
  for (ModelMatrix& matrix : matrices_of({options.models, options.projections, options.layer})) {
    matrix.projection.bias = 0;
    for (const std::uint32_t weights : weights_of(options, matrix.projection))
      cases.push_back({problem_of(options, matrix.projection, weights), matrix});
  }
  return cases;
}

}  // namespace

std::vector<Case> cases_of(const ProveOptions& options) {
  if (takes_model_weights(options)) return model_cases_of(options);
  std::vector<Case> cases;
  for (const problem::Model& model : models_of(options))
    for (problem::Projection projection : model.projections)
      for (const std::uint32_t weights : weights_of(options, projection)) {
        if (options.bias && model.matrices.empty()) projection.bias = problem::usual_bias(weights);
        if (is_drawn(options)) projection.k = whole_blocks(projection.k, weights);
        const tare_problem one = problem_of(options, projection, weights);
        if (std::ranges::none_of(cases, [&](const Case& c) { return alike(c.problem, one); }))
          cases.push_back({one, std::nullopt});
      }
  return cases;
}

std::vector<tare_problem> problems_of(const std::vector<Case>& cases) {
  std::vector<tare_problem> problems;
  problems.reserve(cases.size());
  for (const Case& one : cases) problems.push_back(one.problem);
  return problems;
}

std::vector<prove::Data> classes_of(const ProveOptions& options) {
  std::vector<prove::Data> classes(std::begin(prove::kProvenData), std::end(prove::kProvenData));
  if (options.data.empty()) return classes;
  classes.push_back(prove::Data::kModel);
  std::erase_if(classes, [&](prove::Data data) {
    return std::ranges::find(options.data, prove::name_of(data)) == options.data.end();
  });
  return classes;
}

bool takes_model_weights(const ProveOptions& options) {
  return std::ranges::find(options.data, "model") != options.data.end();
}

bool alike(const tare_problem& a, const tare_problem& b) {
  return a.k == b.k && a.n == b.n && a.weights == b.weights && a.activations == b.activations &&
         a.bias == b.bias;
}

}  // namespace tare::app
