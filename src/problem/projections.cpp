#include "problem/projections.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

// In the order in which a token meets them.
constexpr std::array<std::string_view, 10> kOrder = {"q",    "k",  "v",       "qkv",  "o",
                                                     "gate", "up", "gate_up", "down", "lm_head"};

std::size_t rank(std::string_view name) {
  const auto* const found = std::find(kOrder.begin(), kOrder.end(), name);
  return static_cast<std::size_t>(found - kOrder.begin());
}

std::vector<std::string> split_names(std::string_view joined) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= joined.size();) {
    const std::size_t end = std::min(joined.find('/', begin), joined.size());
    names.emplace_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

bool answers_to(const Projection& projection, const std::string& name) {
  const std::vector<std::string> names = split_names(projection.name);
  return projection.name == name || std::find(names.begin(), names.end(), name) != names.end();
}

std::string names_of(const Model& model) {
  std::vector<std::string> names;
  for (const Projection& projection : model.projections) {
    for (std::string& name : split_names(projection.name))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void ProjectionList::add(std::string_view name, std::uint64_t k, std::uint64_t n,
                         std::uint64_t count, std::string_view stored) {
  Alike& alike = by_kind_[{k, n, std::string(stored)}];
  alike.names.emplace(rank(name), name);
  alike.count += count;
  elements_ += k * n * count;
}

std::vector<Projection> ProjectionList::merged() const {
  std::vector<std::pair<std::pair<std::size_t, std::string>, Projection>> by_first_name;
  for (const auto& [kind, alike] : by_kind_) {
    std::vector<std::string> names;
    for (const auto& [unused, name] : alike.names) names.push_back(name);
    by_first_name.push_back({*alike.names.begin(),
                             {.name = fmt::format("{}", fmt::join(names, "/")),
                              .k = kind.k,
                              .n = kind.n,
                              .count = alike.count,
                              .stored = kind.stored}});
  }
  std::stable_sort(by_first_name.begin(), by_first_name.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Projection> projections;
  for (auto& [unused, projection] : by_first_name) projections.push_back(std::move(projection));
  return projections;
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
}

}  // namespace tare::problem
