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

std::uint64_t whole_count(double reached, std::size_t asked) {
  const double whole = std::round(reached);
  if (!(std::fabs(reached - whole) < 0.3) || whole < 0 || whole > static_cast<double>(asked))
    fail(Blame::kArm, "of {} equal products {} reached the result: it does not only add", asked,
         reached);
  return static_cast<std::uint64_t>(whole);
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
      unit_(masks_.unit * weight_of(problem)) {
  const std::uint64_t one[] = {0};
  const double seen = answers_to({probe(one, masks_.unit)}).front();
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
  std::vector<std::vector<Bf16>> probes;
  std::vector<std::size_t> asked;  // units of each probe
  for (; !units.empty(); units = units.subspan(asked.back())) {
    asked.push_back(std::min(units.size(), kMostAtOnce));
    probes.push_back(probe(units.first(asked.back()), masks_.unit));
    put(probes.back(), i, masks_.huge);
    put(probes.back(), j, -masks_.huge);
  }
  const std::vector<double> answers = answers_to(probes);
  std::uint64_t reached = 0;
  for (std::size_t at = 0; at < answers.size(); ++at)
    reached += whole_count(answers[at] / unit_, asked[at]);
  return reached;
}

std::uint64_t OrderAsker::predicted(const prove::SumTree& tree) {
  std::vector<Bf16> row(problem_.k), x, y(rows_ * problem_.n);
  prove::draw_row({Data::kCancelling, problem_.weights, problem_.k, kProbedSeed, 0}, 0, row);
  for (std::uint32_t r = 0; r < rows_; ++r) x.insert(x.end(), row.begin(), row.end());
  host_.run(Data::kCancelling, rows_, x, 0, y);
  std::uint64_t right = 0;
  std::vector<double> weights;
  std::vector<float> wide_x(problem_.k);
  std::ranges::transform(row, wide_x.begin(), prove::to_float);
  for (std::uint64_t j = 0; j < problem_.n; ++j) {
    prove::generate_row(
        {problem_.weights, problem_.k, problem_.n, kProbedSeed, 0, Data::kCancelling}, j, weights);
    const std::vector<float> narrow(weights.begin(), weights.end());  // exact
    right += y[j] == prove::to_bf16(prove::sum_in_order(tree, wide_x, narrow)) ? 1 : 0;
  }
  return right;
}

std::vector<Bf16> OrderAsker::probe(std::span<const std::uint64_t> products, float value) const {
  std::vector<Bf16> row(problem_.k, 0);
  for (const std::uint64_t product : products) put(row, product, value);
  return row;
}

std::vector<double> OrderAsker::answers_to(const std::vector<std::vector<Bf16>>& probes) {
  std::vector<std::vector<Bf16>> x(probes.size());
  for (std::size_t at = 0; at < probes.size(); ++at)
    for (std::uint32_t r = 0; r < rows_; ++r)
      x[at].insert(x[at].end(), probes[at].begin(), probes[at].end());
  std::vector<double> answers;
  for (const std::vector<Bf16>& y : host_.run_together(Data::kOnes, rows_, x)) {
    odd_.resize(y.size());
    for (std::size_t at = 0; at < y.size(); ++at) odd_[at] = odd_[at] || y[at] != y[0];
    answers.push_back(prove::to_float(y[0]));
  }
  return answers;
}

}  // namespace tare::app
