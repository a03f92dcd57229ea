#include "prove/oracle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace tare::prove {
namespace {

constexpr std::uint64_t kFewest = 4;  // elements a row needs for a root mean square of its own

// A sum that carries its own rounding error along (Ogita, Rump, Oishi 2005; the exact error of one
// addition is Knuth's, which has no branch to mispredict).
class CompensatedSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    const double added = sum - sum_;
    lost_ += (sum_ - (sum - added)) + (value - added);
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

// Products of a bf16 with a weight of any format but one are exact in double (8 bits times 45 at
// most), and so are those of two f32, so the sum is all that rounds; with a bias beside the scale,
// or an f32 by a quantised weight, they lose 2^-53.
double dot(ConstElements x, std::span<const double> weights, double bias) {
  CompensatedSum sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum.add(static_cast<double>(x.value(i)) * weights[i]);
  }
  sum.add(bias);
  return sum.value();
}

class MeanSquare {
 public:
  void add(double value) {
    squares_ += value * value;
    ++count_;
  }
  std::uint64_t count() const { return count_; }
  double root() const {
    return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
  }

 private:
  double squares_ = 0;
  std::uint64_t count_ = 0;
};

// Distance from one number of the type to the next at this magnitude: 8 significant bits in bf16,
// 24 in f32, subnormals below 2^-126.
double step_at(double magnitude, std::uint32_t type) {
  const int fraction_bits = type == TARE_F32 ? 23 : 7;
  constexpr int kLeastExponent = -126;
  const int exponent =
      magnitude > 0 ? std::max(std::ilogb(magnitude), kLeastExponent) : kLeastExponent;
  return std::ldexp(1.0, exponent - fraction_bits);
}

}  // namespace

void ErrorSum::add(const OracleError& error) {
  const auto finite = static_cast<double>(error.checked - error.non_finite);
  squares_ += error.rms_ulp * error.rms_ulp * finite;
  finite_ += finite;
  max_ = std::max(max_, error.max_ulp);
  checked_ += error.checked;
}

double ErrorSum::rms() const {
  return finite_ == 0 ? 0 : std::sqrt(squares_ / finite_);
}

std::vector<Element> draw_elements(std::uint32_t rows, std::uint64_t n, std::size_t count,
                                   std::uint64_t seed) {
  const std::uint64_t total = rows * n;
  if (total == 0) return {};
  // Indices of y in column-major order, so that sorting them groups the elements by output.
  std::set<std::uint64_t> drawn;
  if (count >= total) {
    for (std::uint64_t i = 0; i < total; ++i) drawn.insert(drawn.end(), i);
  } else {
    drawn = {0, rows - 1U, total - rows, total - 1};
    std::mt19937_64 random(seed);
    // % and not a distribution of the standard library: those differ between libraries.
    while (drawn.size() < count) drawn.insert(random() % total);
  }
  std::vector<Element> elements;
  elements.reserve(drawn.size());
  for (const std::uint64_t index : drawn)
    elements.push_back({static_cast<std::uint32_t>(index % rows), index / rows});
  return elements;
}

std::vector<double> oracle(ConstElements x, const WeightKey& key,
                           std::span<const Element> elements) {
  std::vector<double> truth;
  truth.reserve(elements.size());
  std::vector<double> weights;
  double bias = 0;
  const Element* previous = nullptr;
  for (const Element& element : elements) {
    if (previous == nullptr || previous->output != element.output) {
      generate_row(key, element.output, weights);
      bias = generate_bias(key, element.output);
    }
    previous = &element;
    truth.push_back(dot(x.subspan(element.row * key.k, key.k), weights, bias));
  }
  return truth;
}

OracleError oracle_error(ConstElements output, std::uint64_t n, std::span<const Element> elements,
                         std::span<const double> truth) {
  std::map<std::uint32_t, MeanSquare> rows;
  MeanSquare all;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    rows[elements[i].row].add(truth[i]);
    all.add(truth[i]);
  }
  OracleError error;
  MeanSquare errors;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    const double value = output.value(element.row * n + element.output);
    ++error.checked;
    if (!std::isfinite(value)) {
      ++error.non_finite;
      continue;
    }
    const MeanSquare& row = rows[element.row];
    const double typical = row.count() < kFewest ? all.root() : row.root();
    const double ulp =
        std::abs(value - truth[i]) / step_at(std::max(std::abs(truth[i]), typical), output.type());
    error.max_ulp = std::max(error.max_ulp, ulp);
    errors.add(ulp);
  }
  error.rms_ulp = errors.root();
  return error;
}

}  // namespace tare::prove
