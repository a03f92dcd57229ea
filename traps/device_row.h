// What traps on a GPU share: a small product by cuBLAS, for either harness.
#pragma once

#include <string>
#include <vector>

#include "traps/naive.h"

namespace tare::traps {

// Regions of 64 dispatches of cuBLAS, launched as a graph, weights rotated through 16 copies.
NaivePlan on_device();

// A row of the same product, with `more` options, each with its value.
std::vector<std::string> device_row(const std::vector<std::string>& more, const char* ring = "3e8");

}  // namespace tare::traps
