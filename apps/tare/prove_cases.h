// What `tare prove` is asked to prove: problems, and where a model's own weights are taken, which.
#pragma once

#include <optional>
#include <vector>

#include "model_weights.h"
#include "prove.h"
#include "prove/data.h"
#include "tare/arm.h"

namespace tare::app {

// One at a time.
struct Case {
  tare_problem problem{};
  std::optional<ModelMatrix> matrix;
};

// Each once. Throws tare::Error (kInput) where a model or a shape cannot be read or proved.
std::vector<Case> cases_of(const ProveOptions& options);
std::vector<tare_problem> problems_of(const std::vector<Case>& cases);

// Classes of data; "model" is none that is drawn.
std::vector<prove::Data> classes_of(const ProveOptions& options);
bool takes_model_weights(const ProveOptions& options);

// Problems of one shape and precision, at whatever rows.
bool alike(const tare_problem& a, const tare_problem& b);

}  // namespace tare::app
