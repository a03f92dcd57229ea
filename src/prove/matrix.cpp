#include "prove/matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/splitmix.h"
#include "prove/compare.h"
#include "prove/weights.h"

namespace tare::prove {
namespace {

constexpr std::size_t kOracleOutputs = 24;  // of each class, in all rows

WeightKey weights_of(const MatrixPlan& plan, Data data) {
  return {plan.problem.weights, plan.problem.k,  plan.problem.n, plan.seed, 0, data,
          plan.problem.bias,    plan.model.get()};
}

// The first and the last output, and others drawn. Sorted as draw_elements sorts: by output.
std::vector<Element> elements_of(const MatrixPlan& plan) {
  const std::uint64_t n = plan.problem.n;
  std::set<std::uint64_t> outputs{0, n - 1};
  for (std::uint64_t i = 0; outputs.size() < std::min<std::uint64_t>(n, kOracleOutputs); ++i)
    outputs.insert(split_mix(plan.seed + i * kSplitMixStep) % n);
  std::vector<Element> elements;
  for (const std::uint64_t output : outputs)
    for (std::uint32_t row = 0; row < plan.rows.back(); ++row) elements.push_back({row, output});
  return elements;
}

void append(std::string& list, const std::string& item) {
  list += list.empty() ? item : ", " + item;
}

// Adds outputs that were compared to a line of the matrix: `wanted` and `got` are rows that begin
// at row `first_row` of a dispatch of `rows` rows.
struct Comparison {
  std::string_view line;
  Data data;
  std::uint32_t rows;
  std::uint32_t first_row;
  std::string setting;
};

void compare(const Comparison& what, std::uint64_t n, ConstElements wanted, ConstElements got,
             Certificate& certificate) {
  Invariance& line = invariance(certificate, what.line);
  const std::uint64_t differing = compare_bits(wanted, got).differing;
  line.compared += wanted.size();
  line.differing += differing;
  if (line.held == Held::kNotTried) {
    line.held = Held::kEqual;
    line.why.clear();
  }
  if (differing == 0 || line.held == Held::kDiffer) return;
  const std::size_t at = first_difference(wanted, got);
  line.held = Held::kDiffer;
  line.first = {what.rows,
                what.first_row + static_cast<std::uint32_t>(at / n),
                at % n,
                what.setting,
                std::string(name_of(what.data)),
                wanted.bits(at),
                got.bits(at)};
}

// One run into a poisoned buffer.
ElementBuffer run(const Compute& compute, Data data, std::uint32_t rows,
                  const tare_problem& problem, ConstElements x, int which,
                  Certificate& certificate) {
  ElementBuffer y(problem.output, rows * problem.n);
  poison(y.all(), which);
  compute(data, rows, x, which, y.all());
  ++certificate.manners.dispatches;
  return y;
}

ConstElements row_of(const ElementBuffer& y, std::uint64_t n, std::uint32_t row) {
  return y.all().subspan(row * n, n);
}

OracleError error_of(const ElementBuffer& y, std::uint64_t n, const Drawn::Truth& truth) {
  return oracle_error(y, n, truth.elements, truth.values);
}

// Sums of whole numbers are exact in f32.
std::uint64_t count_inexact(const ElementBuffer& y, std::uint64_t n, const Drawn::Truth& truth) {
  std::uint64_t inexact = 0;
  for (std::size_t i = 0; i < truth.values.size(); ++i) {
    const ConstElements got =
        y.all().subspan(truth.elements[i].row * n + truth.elements[i].output, 1);
    ElementBuffer rounded(got.type(), 1);
    rounded.all().set(0, static_cast<float>(truth.values[i]));
    inexact += got.value(0) != rounded.all().value(0) ? 1 : 0;
  }
  return inexact;
}

ErrorAgainst64 against_64(const ErrorSum& sum) {
  return {sum.checked(), sum.max(), sum.rms()};
}

// Whole numbers are exact only where the weights' format holds them.
bool sums_are_exact(const MatrixPlan& plan, Data data) {
  const std::uint32_t type = plan.problem.weights;
  return data == Data::kIntegers && (type == TARE_BF16 || type == TARE_F16 || type == TARE_F32) &&
         plan.problem.activations != TARE_BF16_AS_INT8;
}

// What stands in the rows beside the one that is looked at.
struct Neighbour {
  std::string_view line;
  std::array<Bf16, 2> values;  // in turns along k; of f32 the same numbers
};
constexpr Neighbour kNeighbours[] = {{"NaN neighbour", {0x7FC1, 0xFFC1}},
                                     {"Inf neighbour", {0x7F80, 0xFF80}},
                                     {"huge neighbour", {0x7F78, 0xFF78}},
                                     {"denormal neighbour", {0x0001, 0x8001}}};

void spoil(const Neighbour& neighbour, Elements row) {
  for (std::size_t i = 0; i < row.size(); ++i)
    row.set_bits(i, pattern_in(row.type(), neighbour.values[i % 2]));
}

// Runs `cells`; where the implementation fails in one of them, the line says so, and the failure is
// one of the whole proof.
template <typename Cells>
void guarded_by(std::string_view name, Certificate& certificate, Cells&& cells) {
  try {
    cells();
  } catch (const Error& error) {
    note_untried(name, error.what(), certificate);
    if (certificate.failure.empty()) certificate.failure = error.what();
  }
}

class Batch {
 public:
  Batch(const MatrixPlan& plan, const Compute& compute, const Recorded& own,
        Certificate& certificate)
      : n_(plan.problem.n),
        k_(plan.problem.k),
        plan_(plan),
        compute_(compute),
        own_(own),
        certificate_(certificate) {}

  void rows(const Drawn& drawn) {
    const Outputs& own = own_.at(drawn.data());
    for (const auto& [rows, y] : own.by_rows)
      for (std::uint32_t row = 0; row < rows; ++row)
        compare({"rows", drawn.data(), rows, row, "1 row"}, n_, own.one_row[row],
                row_of(y, n_, row), certificate_);
  }

  void position(const Drawn& drawn) {
    for (const std::uint32_t rows : plan_.rows) {
      ElementBuffer x(drawn.row(0));
      for (std::uint32_t row = 1; row < rows; ++row) x.append(drawn.row(0));
      const auto y = run(compute_, drawn.data(), rows, plan_.problem, x, 0, certificate_);
      for (std::uint32_t row = 1; row < rows; ++row)
        compare({"row position", drawn.data(), rows, row, "row 0"}, n_, row_of(y, n_, 0),
                row_of(y, n_, row), certificate_);
    }
  }

  void beside(const Neighbour& neighbour, const Drawn& drawn) {
    for (const std::uint32_t rows : plan_.rows)
      for (const std::uint32_t kept : std::set{0U, rows / 2, rows - 1})
        if (rows > 1) beside(neighbour, drawn, rows, kept);
  }

 private:
  void beside(const Neighbour& neighbour, const Drawn& drawn, std::uint32_t rows,
              std::uint32_t kept) {
    ElementBuffer x(drawn.x(rows));
    for (std::uint32_t row = 0; row < rows; ++row)
      if (row != kept) spoil(neighbour, x.all().subspan(row * k_, k_));
    const auto y = run(compute_, drawn.data(), rows, plan_.problem, x, 1, certificate_);
    compare({neighbour.line, drawn.data(), rows, kept, std::string(neighbour.line)}, n_,
            row_of(own_.at(drawn.data()).by_rows.at(rows), n_, kept), row_of(y, n_, kept),
            certificate_);
  }

  std::uint64_t n_, k_;
  const MatrixPlan& plan_;
  const Compute& compute_;
  const Recorded& own_;
  Certificate& certificate_;
};

}  // namespace

Drawn::Drawn(const MatrixPlan& plan, Data data)
    : data_(data),
      k_(plan.problem.k),
      x_(plan.problem.activations, plan.rows.back() * plan.problem.k) {
  const DataKey key{data, plan.problem.weights, k_, plan.seed, 0};
  for (std::uint32_t row = 0; row < plan.rows.back(); ++row)
    draw_row(key, row, x_.all().subspan(row * k_, k_));
  truth_.elements = elements_of(plan);
  truth_.values = oracle(x_, weights_of(plan, data), truth_.elements);
}

Drawn::Truth Drawn::truth(std::uint32_t rows) const {
  Truth part;
  for (std::size_t i = 0; i < truth_.elements.size(); ++i) {
    if (truth_.elements[i].row >= rows) continue;
    part.elements.push_back(truth_.elements[i]);
    part.values.push_back(truth_.values[i]);
  }
  return part;
}

std::vector<Drawn> draw_all(const MatrixPlan& plan) {
  std::vector<Drawn> all;
  for (const Data data : plan.classes) all.emplace_back(plan, data);
  return all;
}

Recorded record(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                Certificate& certificate) {
  const std::uint64_t n = plan.problem.n;
  Recorded recorded;
  for (const Drawn& line : drawn) {
    const Data data = line.data();
    Outputs& outputs = recorded[data];
    ClassResult result;
    ErrorSum error;
    for (const std::uint32_t rows : plan.rows) {
      auto y = run(compute, data, rows, plan.problem, line.x(rows), 0, certificate);
      const auto again = run(compute, data, rows, plan.problem, line.x(rows), 1, certificate);
      certificate.manners.unwritten += count_unwritten(y, again);
      compare({"run to run", data, rows, 0, "the same executor"}, n, y, again, certificate);
      const Drawn::Truth truth = line.truth(rows);
      error.add(error_of(y, n, truth));
      if (sums_are_exact(plan, data)) result.inexact += count_inexact(y, n, truth);
      const Difference own = compare_bits(y, y);
      result.elements += own.elements;
      result.non_finite += own.non_finite;
      outputs.by_rows[rows] = std::move(y);
    }
    for (std::uint32_t row = 0; row < plan.rows.back(); ++row)
      outputs.one_row.push_back(run(compute, data, 1, plan.problem, line.row(row), 0, certificate));
    result.name = name_of(data);
    result.error = against_64(error);
    certificate.classes.push_back(result);
  }
  append(invariance(certificate, "run to run").why, "the same executor again");
  return recorded;
}

void compare_with_incumbent(std::span<const Drawn> drawn, const Recorded& own,
                            const Recorded& incumbent, std::uint64_t n, Certificate& certificate) {
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    ClassResult& result = certificate.classes.at(i);
    const Outputs& theirs = incumbent.at(drawn[i].data());
    ErrorSum error;
    for (const auto& [rows, y] : own.at(drawn[i].data()).by_rows) {
      const ElementBuffer& other = theirs.by_rows.at(rows);
      const Difference difference = compare_bits(other, y);
      result.differing += difference.differing;
      result.class_mismatch += difference.class_mismatch;
      for (std::uint32_t row = 0; row < rows; ++row)
        result.differing_one_row += compare_bits(theirs.one_row[row], row_of(y, n, row)).differing;
      error.add(error_of(other, n, drawn[i].truth(rows)));
    }
    result.incumbent_error = against_64(error);
  }
}

void prove_batch(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                 const Recorded& own, Certificate& certificate) {
  Batch batch(plan, compute, own, certificate);
  for (const Drawn& line : drawn) batch.rows(line);
  guarded_by("row position", certificate, [&] {
    for (const Drawn& line : drawn) batch.position(line);
  });
  for (const Neighbour& neighbour : kNeighbours)
    guarded_by(neighbour.line, certificate, [&] {
      for (const Drawn& line : drawn) batch.beside(neighbour, line);
    });
  if (plan.rows.back() > 1) return;
  note_untried("row position", "one row has no other position", certificate);
  for (const Neighbour& neighbour : kNeighbours)
    note_untried(neighbour.line, "one row has no neighbours", certificate);
}

void prove_setting(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                   const Recorded& own, std::string_view name, const std::string& setting,
                   Certificate& certificate) {
  guarded_by(name, certificate, [&] {
    for (const Drawn& line : drawn)
      for (const std::uint32_t rows : plan.rows) {
        const auto y = run(compute, line.data(), rows, plan.problem, line.x(rows), 0, certificate);
        compare({name, line.data(), rows, 0, setting}, plan.problem.n,
                own.at(line.data()).by_rows.at(rows), y, certificate);
      }
    append(invariance(certificate, name).why, setting);
  });
}

void prove_guard_pages(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                       const Recorded& own, Certificate& certificate) {
  const Drawn& line = drawn.front();
  Manners& manners = certificate.manners;
  try {
    for (const std::uint32_t rows : plan.rows) {
      const auto y = run(compute, line.data(), rows, plan.problem, line.x(rows), 0, certificate);
      if (y == own.at(line.data()).by_rows.at(rows)) continue;
      manners.guard_pages = Held::kDiffer;
      manners.guard_pages_why =
          fmt::format("other bits at {} rows where NaN surrounds the buffers", rows);
      return;
    }
    manners.guard_pages = Held::kEqual;
  } catch (const Error& error) {
    manners.guard_pages = error.blame() == Blame::kArm ? Held::kDiffer : Held::kNotTried;
    manners.guard_pages_why = error.what();
  }
}

void note_untried(std::string_view name, const std::string& why, Certificate& certificate) {
  Invariance& line = invariance(certificate, name);
  if (line.held == Held::kNotTried)
    line.why = why;
  else
    append(line.why, why);
}

}  // namespace tare::prove
