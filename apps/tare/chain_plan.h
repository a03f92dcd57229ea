// All projections of a token as one chain of dispatches: which matrices, in which order, and how
// many layers of them fit into memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "tare/arm.h"
#include "weigh/weighing.h"

namespace tare::app {

struct ChainPlan {
  struct Step {
    std::size_t part = 0;  // of `parts`
    std::uint32_t slot = 0;
  };
  std::vector<weigh::ChainPart>
      parts;                // one a shape and type, of one row; of the last one the last step
  std::vector<Step> steps;  // every matrix once, each on a slot of its own
  std::uint64_t layers = 0, all_layers = 0;
  // Names of what belongs to no layer and is left out, so that more layers fit: "lm_head".
  std::vector<std::string> left_out;
};

// The problem of a matrix, at one row.
using ProblemOf = std::function<tare_problem(const problem::Matrix&)>;

// The first layers of the model, as many as take `most_bytes` of weights at most, and all that
// belongs to no layer, unless that alone takes more than half of it. Throws tare::Error: kInput
// where the model has no matrices (a bare shape), kMachine where not even one layer fits.
ChainPlan plan_chain(const problem::Model& model, const ProblemOf& problem_of, double most_bytes);

// "chain of 28 layers", "chain of 9/36 layers", "7/36 layers without lm_head".
std::string chain_name(const ChainPlan& plan);

}  // namespace tare::app
