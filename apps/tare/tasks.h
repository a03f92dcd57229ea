// What a run weighs: the models and shapes that were asked for, and each shape of theirs once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headroom.h"
#include "problem/problem.h"
#include "tare/arm.h"

namespace tare::app {

// Of the files, built-in names and shapes of the options, with what every projection is weighed as.
// Throws tare::Error (kInput).
std::vector<problem::Model> models_of(const HeadroomOptions& options);

// A projection that has the shape, of one of the models.
struct Owner {
  std::string model, projection;
};

// One shape and precision, weighed once for everybody who has it.
struct Task {
  tare_problem problem{};            // of one row
  std::vector<std::uint64_t> parts;  // of a fused projection
  std::vector<Owner> owners;
};

std::vector<Task> tasks_of(const HeadroomOptions& options,
                           const std::vector<problem::Model>& models);

// Of one row. Throws tare::Error (kInput) where the matrix is none of the model's projections.
tare_problem problem_of_matrix(const HeadroomOptions& options, const problem::Model& model,
                               const problem::Matrix& matrix);

}  // namespace tare::app
