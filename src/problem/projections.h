// The weights of one model, gathered one by one, and merged where their shapes are equal.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "problem/problem.h"

namespace tare::problem {

// Model::notes of a mixture of experts, whatever kind of file told.
inline constexpr std::string_view kExpertsNote =
    "mixture of experts: its feed-forward layers (router and experts) are not yet weighed, nor "
    "counted in the weights "
    "of a token";

enum class Biases { kLeft, kTaken };

class ProjectionList {
 public:
  // One matrix. Its shape must have passed check_shape.
  void add(const Matrix& matrix);
  // One in each of so many layers.
  void add(std::string_view name, std::uint64_t k, std::uint64_t n, std::uint64_t layers,
           std::string_view stored, std::uint32_t bias = 0);

  bool empty() const { return matrices_.empty(); }

  // One Projection a shape, stored type and parts; and, where biases are taken, one a bias. Names
  // are joined in the order q, k, v, qkv, o, gate, up, gate_up, down, lm_head, then the others by
  // letter; projections stand in the order of their first names. Those of equal first names stand
  // by shape, then type.
  std::vector<Projection> merged(Biases biases = Biases::kLeft) const;

  // Model::matrices.
  std::vector<Matrix> in_order() const;

  // Elements of all of them: Model::weights_per_token.
  std::uint64_t elements() const { return elements_; }

 private:
  struct Kind {
    std::uint64_t k = 0, n = 0;
    std::string stored;
    std::vector<std::uint64_t> parts;
    std::uint32_t bias = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): the 0 is the compiler's own
    auto operator<=>(const Kind&) const = default;
  };
  // How many matrices of one kind have which name: by rank, then letter.
  using Alike = std::map<std::pair<std::size_t, std::string>, std::uint64_t>;
  std::map<Kind, Alike> by_kind(Biases biases) const;

  std::vector<Matrix> matrices_;
  std::uint64_t elements_ = 0;
};

}  // namespace tare::problem
