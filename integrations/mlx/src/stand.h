// What stands in for a layer, or for several that are given the same x: packed matrices by row
// count.
#pragma once

#include <mlx/array.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "matrix.h"

namespace tare::in_mlx {

// A layer's arrays as it holds them now; null where it has none.
struct Held {
  const mx::array* weight = nullptr;
  const mx::array* scales = nullptr;
  const mx::array* biases = nullptr;
  const mx::array* bias = nullptr;
};

// The layers of one stand have their outputs side by side in one matrix. Which of them is called
// first computes all; the others take their part when they are called with the same array. Nothing
// is evaluated here. One thread at a time, as Python's modules are.
class Stand {
 public:
  // Of the layers' arrays as they were packed: with others nothing is served. `widths`: outputs of
  // each layer.
  explicit Stand(std::vector<std::uint64_t> widths) : widths_(std::move(widths)) {}
  void expect(const Held& held);
  void serve(std::uint32_t rows, std::shared_ptr<const Matrix> matrix);

  // y of the layer, or nothing: then it is the layer's own affair.
  std::optional<mx::array> call(std::size_t layer, const mx::array& x, const Held& held);

  std::uint64_t served() const { return served_; }  // dispatches
  std::uint64_t left() const { return left_; }      // calls that were the layers' own affair

 private:
  using Identities = std::array<std::uintptr_t, 4>;
  static Identities identities_of(const Held& held);
  bool is_pending(std::size_t layer, const mx::array& x) const;
  mx::array take(std::size_t layer);
  std::vector<mx::array> compute(const mx::array& x,
                                 const std::shared_ptr<const Matrix>& matrix) const;

  std::vector<std::uint64_t> widths_;
  std::vector<Identities> packed_of_;           // one a layer
  std::vector<std::optional<mx::array>> bias_;  // likewise
  std::optional<mx::array> all_bias_;           // side by side, where the layers have any
  std::map<std::uint64_t, std::shared_ptr<const Matrix>> by_size_;  // of x
  // Outputs that were computed and not all taken: of which x, and what is left.
  std::optional<mx::array> x_;
  std::vector<std::optional<mx::array>> parts_;
  std::uint64_t served_ = 0, left_ = 0;
};

}  // namespace tare::in_mlx
