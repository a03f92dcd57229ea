#include "report/serving.h"

#include <algorithm>
#include <map>

namespace tare::report {
namespace {

bool is_row_of(const Row& row, const problem::Model& model, const problem::Projection& projection) {
  return row.model == model.name && row.projection == projection.name &&
         row.weighing.problem.k == projection.k && row.weighing.problem.n == projection.n;
}

double elements_of(const problem::Projection& projection) {
  return static_cast<double>(projection.k) * static_cast<double>(projection.n) *
         static_cast<double>(projection.count);
}

// The incumbent's time of one dispatch; 0 when there is none to believe.
double incumbent_seconds(const Row& row) {
  if (row.judgement.verdict == judge::Verdict::kRefused) return 0;
  const auto fit = row.judgement.fits.find(weigh::Role::kIncumbent);
  return fit == row.judgement.fits.end() ? 0 : fit->second.per_dispatch;
}

// Sums over the believed rows of one row count.
struct Step {
  double elements = 0;  // weighed
  double seconds = 0;   // the incumbents' time for them
  double saved = 0, saved_low = 0, saved_high = 0;
  std::uint32_t served = 0;
};

// Share of the incumbent's time that a candidate `ratio` times as fast saves.
double saved_share(double ratio) {
  return ratio > 0 ? 1 - 1 / ratio : 0;
}

void add(Step& step, const Row& row, const problem::Projection& projection) {
  const double seconds = incumbent_seconds(row) * static_cast<double>(projection.count);
  if (!(seconds > 0)) return;
  step.elements += elements_of(projection);
  step.seconds += seconds;
  if (row.judgement.decision != judge::Decision::kServe) return;
  ++step.served;
  step.saved += seconds * saved_share(row.judgement.ratio);
  step.saved_low += seconds * saved_share(row.judgement.interval.low);
  step.saved_high += seconds * saved_share(row.judgement.interval.high);
}

ServingGain gain_of(std::uint32_t rows, const Step& step, const problem::Model& model) {
  const double all_elements = std::max(step.elements, static_cast<double>(model.weights_per_token));
  const double all_seconds = step.seconds * all_elements / step.elements;
  return {rows,
          step.served,
          step.saved / all_seconds,
          {step.saved_low / all_seconds, step.saved_high / all_seconds}};
}

}  // namespace

double weighed_share(const problem::Model& model, const std::vector<Row>& rows) {
  if (model.weights_per_token == 0) return 0;
  double weighed = 0;
  for (const problem::Projection& projection : model.projections) {
    const bool has_row = std::ranges::any_of(
        rows, [&](const Row& row) { return is_row_of(row, model, projection); });
    if (has_row) weighed += elements_of(projection);
  }
  return weighed / static_cast<double>(model.weights_per_token);
}

std::vector<ServingGain> serving_gains(const problem::Model& model, const std::vector<Row>& rows) {
  std::map<std::uint32_t, Step> steps;
  for (const problem::Projection& projection : model.projections) {
    for (const Row& row : rows) {
      if (is_row_of(row, model, projection)) add(steps[row.weighing.problem.rows], row, projection);
    }
  }
  std::vector<ServingGain> gains;
  for (const auto& [count, step] : steps) {
    if (step.elements > 0) gains.push_back(gain_of(count, step, model));
  }
  return gains;
}

}  // namespace tare::report
