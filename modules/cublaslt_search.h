// Which of cuBLASLt's algorithms is fastest for a problem: all ids with all their tiles, stages,
// custom options and clusters, then split-k, reductions and swizzles of the best of those; timed on
// cold weights in a graph, and the best confirmed on fresh data.
#pragma once

#include <string>
#include <vector>

#include "cublaslt_problem.h"

namespace tare::modules {

struct CublasLtChoice {
  cublasLtMatmulAlgo_t algorithm{};
  std::string words;   // "algo 66, tile 20, stages 36, split-k 1, ..."
  double seconds = 0;  // of one dispatch; 0: not timed
  // Of the search that found it: how many were timed, and what the heuristic's first took.
  std::size_t timed = 0;
  double heuristic_seconds = 0;
};

// The heuristic's first, untimed. Throws tare::Error (kArm) when it offers none.
CublasLtChoice heuristic_choice(const CublasLtProblem& problem);

// The fastest. Takes a second or two the first time a process asks for a problem.
const CublasLtChoice& fastest_choice(const tare_problem& problem);

}  // namespace tare::modules
