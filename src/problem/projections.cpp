#include "problem/projections.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

// In the order in which a token meets them.
constexpr std::array<std::string_view, 10> kOrder = {"q",    "k",  "v",       "qkv",  "o",
                                                     "gate", "up", "gate_up", "down", "lm_head"};

// "q+k+v" is of q, k and v.
std::vector<std::string> split(const std::string& joined, char at) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= joined.size();) {
    const std::size_t end = std::min(joined.find(at, begin), joined.size());
    names.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

bool answers_to(const Projection& projection, const std::string& name) {
  if (projection.name == name) return true;
  return std::ranges::any_of(names_in(projection), [&](const std::string& own) {
    const std::vector<std::string> parts = split(own, '+');
    return own == name || std::ranges::find(parts, name) != parts.end();
  });
}

std::string names_of(const Model& model) {
  std::vector<std::string> names;
  for (const Projection& projection : model.projections) {
    for (std::string& name : names_in(projection))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::size_t place_of(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('+'));
  const auto* const found = std::find(kOrder.begin(), kOrder.end(), first);
  return static_cast<std::size_t>(found - kOrder.begin());
}

std::vector<std::string> names_in(const Projection& projection) {
  return split(projection.name, '/');
}

void ProjectionList::add(const Matrix& matrix) {
  elements_ += matrix.k * matrix.n;
  matrices_.push_back(matrix);
}

void ProjectionList::add(std::string_view name, std::uint64_t k, std::uint64_t n,
                         std::uint64_t layers, std::string_view stored, std::uint32_t bias) {
  for (std::uint64_t layer = 0; layer < layers; ++layer)
    add({std::string(name), layer, k, n, std::string(stored), {}, bias});
}

std::vector<Matrix> ProjectionList::in_order() const {
  std::vector<Matrix> matrices = matrices_;
  const auto place = [](const Matrix& matrix) {
    constexpr std::uint64_t kAfterAllLayers = std::numeric_limits<std::uint64_t>::max();
    return std::pair(matrix.layer.value_or(kAfterAllLayers), place_of(matrix.name));
  };
  std::ranges::stable_sort(matrices, {}, place);
  return matrices;
}

auto ProjectionList::by_kind(Biases biases) const -> std::map<Kind, Alike> {
  std::map<Kind, Alike> kinds;
  for (const Matrix& matrix : matrices_) {
    const std::uint32_t bias = biases == Biases::kTaken ? matrix.bias : 0;
    Alike& alike = kinds[{matrix.k, matrix.n, matrix.stored, matrix.parts, bias}];
    ++alike[{place_of(matrix.name), matrix.name}];
  }
  return kinds;
}

std::vector<Projection> ProjectionList::merged(Biases biases) const {
  std::vector<std::pair<std::pair<std::size_t, std::string>, Projection>> by_first_name;
  for (const auto& [kind, alike] : by_kind(biases)) {
    std::vector<std::string> names;
    Projection projection{.name = "", .k = kind.k, .n = kind.n, .count = 0, .stored = kind.stored};
    projection.parts = kind.parts;
    projection.bias = kind.bias;
    for (const auto& [name, count] : alike) {
      names.push_back(name.second);
      projection.counts.push_back(count);
      projection.count += count;
    }
    projection.name = fmt::format("{}", fmt::join(names, "/"));
    by_first_name.emplace_back(alike.begin()->first, std::move(projection));
  }
  std::stable_sort(by_first_name.begin(), by_first_name.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Projection> projections;
  projections.reserve(by_first_name.size());
  for (auto& [unused, projection] : by_first_name) projections.push_back(std::move(projection));
  return projections;
}

void take_biases(Model& model) {
  ProjectionList list;
  for (const Matrix& matrix : model.matrices) list.add(matrix);
  model.projections = list.merged(Biases::kTaken);
}

void leave_biases(Model& model) {
  for (Matrix& matrix : model.matrices) matrix.bias = 0;
}

void keep_only(Model& model, const std::vector<std::string>& names) {
  if (names.empty()) return;
  for (const std::string& name : names) {
    const bool found = std::any_of(model.projections.begin(), model.projections.end(),
                                   [&](const Projection& p) { return answers_to(p, name); });
    if (!found) {
      fail(Blame::kInput, "model '{}' has no projection '{}'; it has {}", model.name,
           printable(name), names_of(model));
    }
  }
  std::erase_if(model.projections, [&](const Projection& projection) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return answers_to(projection, name); });
  });
  std::erase_if(model.matrices, [&](const Matrix& matrix) {
    return std::ranges::none_of(model.projections, [&](const Projection& projection) {
      return projection.k == matrix.k && projection.n == matrix.n &&
             projection.stored == matrix.stored && projection.parts == matrix.parts &&
             projection.bias == matrix.bias && answers_to(projection, matrix.name);
    });
  });
}

}  // namespace tare::problem
