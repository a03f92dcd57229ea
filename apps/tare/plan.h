// `tare plan`: makes, checks, merges and compares plans.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "headroom.h"

namespace tare::app {

struct PlanOptions {
  HeadroomOptions weigh;     // its models: the one that is planned
  std::string from;          // a results file instead of a model
  std::string output;        // of the plan
  std::string certificates;  // a file of tare prove
  std::optional<judge::Equality> equality;
  bool serve_dispatch_wins = false;
  std::vector<std::string> files;  // of check, merge and diff
  bool check = false, merge = false, diff = false;
  bool json = false;  // of check and diff: for programs
};

CLI::App* add_plan(CLI::App& app, PlanOptions& options);

// Returns the exit code.
int plan(const PlanOptions& options);

}  // namespace tare::app
