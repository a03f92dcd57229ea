#include "report/serving.h"

#include <algorithm>
#include <map>

#include "formats/weight_format.h"

namespace tare::report {

// Files of before do not say what a projection was weighed as: there shape and name must do.
bool is_row_of(const Row& row, const problem::Model& model, const problem::Projection& projection) {
  const tare_problem& problem = row.weighing.problem;
  return row.weighing.chain.empty() && row.model == model.name &&
         row.projection == projection.name && problem.k == projection.k &&
         problem.n == projection.n && problem.bias == projection.bias &&
         (projection.weighed.empty() || projection.weighed == formats::type_name(problem.weights));
}

double saved_share(double ratio) {
  return ratio > 0 ? 1 - 1 / ratio : 0;
}

namespace {

// What a projection is of a token: bytes of weights; in files of before elements, which count 4-bit
// weights for as much as 16-bit ones.
double amount_of(const problem::Model& model, const problem::Projection& projection) {
  const auto count = static_cast<double>(projection.count);
  if (model.bytes_per_token > 0)
    return count * formats::weight_bytes(formats::type_number(projection.weighed), projection.k,
                                         projection.n, projection.bias);
  return count * static_cast<double>(projection.k) * static_cast<double>(projection.n);
}

double amount_of_token(const problem::Model& model) {
  return model.bytes_per_token > 0 ? model.bytes_per_token
                                   : static_cast<double>(model.weights_per_token);
}

// The incumbent's time of one dispatch; 0 when there is none to believe.
double incumbent_seconds(const Row& row) {
  if (row.judgement.verdict == judge::Verdict::kRefused) return 0;
  const auto fit = row.judgement.fits.find(weigh::Role::kIncumbent);
  return fit == row.judgement.fits.end() ? 0 : fit->second.per_dispatch;
}

// Sums over the believed rows of one row count.
struct Step {
  double amount = 0;   // weighed
  double seconds = 0;  // the incumbents' time for them
  double saved = 0, saved_low = 0, saved_high = 0;
  std::uint32_t served = 0;
};

void add(Step& step, const Row& row, double amount, double count, bool served) {
  const double seconds = incumbent_seconds(row) * count;
  if (!(seconds > 0)) return;
  step.amount += amount;
  step.seconds += seconds;
  if (!served) return;
  ++step.served;
  step.saved += seconds * saved_share(row.judgement.ratio);
  step.saved_low += seconds * saved_share(row.judgement.interval.low);
  step.saved_high += seconds * saved_share(row.judgement.interval.high);
}

ServingGain gain_of(std::uint32_t rows, const Step& step, const problem::Model& model) {
  const double whole = std::max(step.amount, amount_of_token(model));
  const double all_seconds = step.seconds * whole / step.amount;
  return {rows,
          step.served,
          step.saved / all_seconds,
          {step.saved_low / all_seconds, step.saved_high / all_seconds}};
}

}  // namespace

double weighed_share(const problem::Model& model, const std::vector<Row>& rows) {
  if (!(amount_of_token(model) > 0)) return 0;
  double weighed = 0;
  for (const problem::Projection& projection : model.projections) {
    const bool has_row = std::ranges::any_of(
        rows, [&](const Row& row) { return is_row_of(row, model, projection); });
    if (has_row) weighed += amount_of(model, projection);
  }
  return weighed / amount_of_token(model);
}

std::vector<ServingGain> serving_gains(const problem::Model& model, const std::vector<Row>& rows,
                                       const std::vector<bool>& stands) {
  std::map<std::uint32_t, Step> steps;
  for (const problem::Projection& projection : model.projections) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      if (!is_row_of(row, model, projection)) continue;
      const bool served = row.judgement.decision == judge::Decision::kServe && stands[i];
      add(steps[row.weighing.problem.rows], row, amount_of(model, projection),
          static_cast<double>(projection.count), served);
    }
  }
  std::vector<ServingGain> gains;
  for (const auto& [count, step] : steps) {
    if (step.amount > 0) gains.push_back(gain_of(count, step, model));
  }
  return gains;
}

}  // namespace tare::report
