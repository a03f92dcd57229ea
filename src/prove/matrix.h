// The matrix of a proof: one implementation computes the same rows in many circumstances, and its
// bits must not depend on them. Who computes and how is the caller's business: functions here see
// activations and outputs only. Calls are made one at a time, from the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "prove/certificate.h"
#include "prove/data.h"
#include "prove/elements.h"
#include "prove/oracle.h"
#include "tare/arm.h"

namespace tare::prove {

// Computes y[rows, n] = x[rows, k] . W^T, with the weights of that class of data. `y` comes
// poisoned with `which` (compare.h), and elements that were not written must keep it. Throws
// tare::Error when it cannot: that costs the cells that needed it.
using Compute =
    std::function<void(Data data, std::uint32_t rows, ConstElements x, int which, Elements y)>;

struct MatrixPlan {
  tare_problem problem{};           // its rows are not looked at
  std::vector<std::uint32_t> rows;  // ascending, distinct
  std::vector<Data> classes;
  std::uint64_t seed = 0;                             // of x and of the weights
  std::shared_ptr<const load::StoredMatrix> model{};  // of Data::kModel
};

// The rows of x of one class, and what they come to: drawn once, used by every implementation. x of
// a dispatch of r rows are the first r of them.
class Drawn {
 public:
  Drawn(const MatrixPlan& plan, Data data);

  Data data() const { return data_; }
  ConstElements x(std::uint32_t rows) const { return x_.all().first(rows * k_); }
  ConstElements row(std::uint32_t row) const { return x_.all().subspan(row * k_, k_); }
  // Elements of the drawn outputs in the first `rows` rows, and their exact values.
  struct Truth {
    std::vector<Element> elements;
    std::vector<double> values;
  };
  Truth truth(std::uint32_t rows) const;

 private:
  Data data_;
  std::uint64_t k_;
  ElementBuffer x_;
  Truth truth_;  // of all rows
};
std::vector<Drawn> draw_all(const MatrixPlan& plan);

// What one implementation gave in its usual circumstances: the base that every other one is
// compared with.
struct Outputs {
  std::map<std::uint32_t, ElementBuffer> by_rows;  // y[rows, n]
  std::vector<ElementBuffer> one_row;              // of each row alone, y[n]
};
using Recorded = std::map<Data, Outputs>;

// Runs every row count of every class twice, with the two poisons, and every row alone. Fills the
// certificate's classes (without the incumbent's side), unwritten elements, and the line "run to
// run" with what the second run showed. Throws as `compute` does.
Recorded record(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                Certificate& certificate);

// The incumbent's side of every class. Both recorded by the same plan.
void compare_with_incumbent(std::span<const Drawn> drawn, const Recorded& own,
                            const Recorded& incumbent, std::uint64_t n, Certificate& certificate);

// Rows, row position and neighbours.
void prove_batch(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                 const Recorded& own, Certificate& certificate);

// Another circumstance, in which all outputs must have the bits that were recorded: of the line
// `name`, named `setting`. May be called again for other settings of the line.
void prove_setting(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                   const Recorded& own, std::string_view name, const std::string& setting,
                   Certificate& certificate);

// The outputs of the first class again, computed between guard pages: fills the certificate's
// `guard_pages`. What fails is told there.
void prove_guard_pages(const MatrixPlan& plan, std::span<const Drawn> drawn, const Compute& compute,
                       const Recorded& own, Certificate& certificate);

// Says why a setting of that line was not tried.
void note_untried(std::string_view name, const std::string& why, Certificate& certificate);

}  // namespace tare::prove
