#include "order_asker.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "formats/weight_format.h"
#include "prove/weights.h"

namespace tare::app {
namespace {

using prove::Bf16;
using prove::Data;

// Rounded to bf16, so many times a unit are told from one more or less.
constexpr std::size_t kMostAtOnce = 128;

// The weight that all of a probe's have.
double weight_of(const tare_problem& problem) {
  std::vector<double> weights;
  prove::generate_row({problem.weights, problem.k, problem.n, kProbedSeed, 0, Data::kOnes}, 0,
                      weights);
  return weights.front();
}

void put(std::vector<Bf16>& row, std::uint64_t product, float value) {
  row[product] = prove::to_bf16(value);
}

}  // namespace

OrderAsker::OrderAsker(ProbedHost& host, const tare_problem& problem, std::uint32_t rows)
    : host_(host),
      problem_(problem),
      rows_(rows),
      masks_(masks_of(problem)),
      unit_(masks_.unit * weight_of(problem)),
      y_(rows * problem.n) {
  const std::uint64_t one[] = {0};
  const double seen = answer(probe(one, masks_.unit));
  if (!(std::fabs(seen / unit_ - 1) < 0.01))
    fail(Blame::kArm, "a single product of {} is {}", unit_, seen);
}

// Activations that are rounded to 8 bits have a scale of f16 for each block: 127 times a power of
// two makes that scale exact. (With powers of two themselves scales, and so products, were rounded:
// what was left of two huge ones that should cancel swallowed the small ones.)
OrderAsker::Masks OrderAsker::masks_of(const tare_problem& problem) {
  if (problem.activations == TARE_BF16_AS_INT8) return {127 * 0x1p14F, 127 * 0x1p-20F};
  // An arm may round x to the weights' f16: the largest and the least powers of two that it has.
  if (problem.weights == TARE_F16) return {0x1p15F, 0x1p-24F};
  return {0x1p60F, 1.0F};
}

std::uint64_t OrderAsker::block() const {
  if (problem_.activations != TARE_BF16_AS_INT8) return 1;
  return std::max<std::uint64_t>(32, formats::format_of(problem_.weights).block);
}

std::size_t OrderAsker::outliers() const {
  return static_cast<std::size_t>(std::ranges::count(odd_, true));
}

std::uint64_t OrderAsker::count(std::uint64_t i, std::uint64_t j,
                                std::span<const std::uint64_t> units) {
  std::uint64_t reached = 0;
  for (; !units.empty(); units = units.subspan(std::min(units.size(), kMostAtOnce)))
    reached += count_at_once(i, j, units.first(std::min(units.size(), kMostAtOnce)));
  return reached;
}

std::uint64_t OrderAsker::count_at_once(std::uint64_t i, std::uint64_t j,
                                        std::span<const std::uint64_t> units) {
  std::vector<Bf16> row = probe(units, masks_.unit);
  put(row, i, masks_.huge);
  put(row, j, -masks_.huge);
  const double reached = answer(row) / unit_;
  const double whole = std::round(reached);
  if (!(std::fabs(reached - whole) < 0.3) || whole < 0 || whole > static_cast<double>(units.size()))
    fail(Blame::kArm, "of {} equal products {} reached the result: it does not only add",
         units.size(), reached);
  return static_cast<std::uint64_t>(whole);
}

std::uint64_t OrderAsker::predicted(const prove::SumTree& tree) {
  std::vector<Bf16> row(problem_.k), x;
  prove::draw_row({Data::kCancelling, problem_.weights, problem_.k, kProbedSeed, 0}, 0, row);
  for (std::uint32_t r = 0; r < rows_; ++r) x.insert(x.end(), row.begin(), row.end());
  host_.run(Data::kCancelling, rows_, x, 0, y_);
  std::uint64_t right = 0;
  std::vector<double> weights;
  std::vector<float> wide_x(problem_.k);
  std::ranges::transform(row, wide_x.begin(), prove::to_float);
  for (std::uint64_t j = 0; j < problem_.n; ++j) {
    prove::generate_row(
        {problem_.weights, problem_.k, problem_.n, kProbedSeed, 0, Data::kCancelling}, j, weights);
    const std::vector<float> narrow(weights.begin(), weights.end());  // exact
    right += y_[j] == prove::to_bf16(prove::sum_in_order(tree, wide_x, narrow)) ? 1 : 0;
  }
  return right;
}

std::vector<Bf16> OrderAsker::probe(std::span<const std::uint64_t> products, float value) const {
  std::vector<Bf16> row(problem_.k, 0);
  for (const std::uint64_t product : products) put(row, product, value);
  return row;
}

double OrderAsker::answer(const std::vector<Bf16>& row) {
  x_.clear();
  for (std::uint32_t r = 0; r < rows_; ++r) x_.insert(x_.end(), row.begin(), row.end());
  host_.run(Data::kOnes, rows_, x_, 0, y_);
  odd_.resize(y_.size());
  for (std::size_t at = 0; at < y_.size(); ++at) odd_[at] = odd_[at] || y_[at] != y_[0];
  return prove::to_float(y_[0]);
}

}  // namespace tare::app
