// Projections that multiply the same x, side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "problem/problem.h"
#include "problem/projections.h"

namespace tare::problem {
namespace {

const std::vector<std::vector<std::string>>& groups() {
  static const std::vector<std::vector<std::string>> all = {{"q", "k", "v"}, {"gate", "up"}};
  return all;
}

using Layer = std::vector<const Matrix*>;

// The matrices of those names, in that order; empty where one is missing, or there twice.
Layer members_of(const Layer& layer, const std::vector<std::string>& names) {
  Layer members;
  for (const std::string& name : names) {
    const auto named = [&](const Matrix* matrix) { return matrix->name == name; };
    if (std::ranges::count_if(layer, named) != 1) return {};
    members.push_back(*std::ranges::find_if(layer, named));
  }
  return members;
}

bool fits_together(const Layer& members) {
  return std::ranges::all_of(members, [&](const Matrix* matrix) {
    const Matrix& first = *members.front();
    return matrix->k == first.k && matrix->stored == first.stored && matrix->bias == first.bias;
  });
}

Matrix side_by_side(const Layer& members, const std::vector<std::string>& names) {
  Matrix fused = *members.front();
  fused.name = fmt::format("{}", fmt::join(names, "+"));
  fused.n = 0;
  fused.tensor.clear();  // no tensor of the file is laid out so
  fused.storage = {};
  for (const Matrix* matrix : members) {
    fused.n += matrix->n;
    fused.parts.push_back(matrix->n);
  }
  return fused;
}

// One layer's matrices, fused where they can be; those that cannot are counted by their name.
void add_fused(const Layer& layer, ProjectionList& list, std::map<std::string, int>& apart) {
  Layer rest = layer;
  for (const std::vector<std::string>& names : groups()) {
    const Layer members = members_of(layer, names);
    if (members.empty()) continue;
    if (!fits_together(members)) {
      ++apart[fmt::format("{}", fmt::join(names, "+"))];
      continue;
    }
    list.add(side_by_side(members, names));
    std::erase_if(rest, [&](const Matrix* matrix) {
      return std::ranges::find(members, matrix) != members.end();
    });
  }
  for (const Matrix* matrix : rest) list.add(*matrix);
}

}  // namespace

void fuse(Model& model) {
  if (model.matrices.empty())
    fail(Blame::kInput, "'{}' says no layers whose projections could be fused.", model.name);
  std::map<std::uint64_t, Layer> layers;
  ProjectionList list;
  std::map<std::string, int> apart;
  for (const Matrix& matrix : model.matrices)
    if (matrix.layer) layers[*matrix.layer].push_back(&matrix);
  for (const auto& [number, layer] : layers) add_fused(layer, list, apart);
  for (const Matrix& matrix : model.matrices)
    if (!matrix.layer) list.add(matrix);
  for (const auto& [name, count] : apart)
    model.notes.push_back(
        fmt::format("{} stay apart in {}: they are not stored alike", name,
                    count == 1 ? std::string("one layer") : fmt::format("{} layers", count)));
  model.projections = list.merged(Biases::kTaken);
  model.matrices = list.in_order();
}

}  // namespace tare::problem
