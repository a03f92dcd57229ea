// `tare prove`: is it safe to swap? One implementation, or every one, in all circumstances that
// must not change its bits.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"

namespace tare::app {

struct ProveOptions {
  std::vector<std::string> models, shapes, projections;
  std::vector<std::string> data;  // classes; none: all that are drawn
  std::optional<std::uint64_t> layer;
  std::vector<std::string> weights;  // names of types; none: the model's own, or bf16
  std::string activations;
  std::vector<std::uint32_t> rows;  // none: 1 to 32
  std::vector<std::string> plugins;
  std::vector<std::string> candidates;  // names; of several a table is asked for (all)
  std::string incumbent, equality;
  arms::Where where = arms::Where::kProcessor;
  std::uint32_t threads = 0;
  double patience_seconds = 20;
  std::optional<std::uint64_t> seed;
  std::string json_path;
  std::vector<std::string> read_paths;
  bool bias = false;  // with the biases that a model has, and one for a shape
  bool all = false;
  std::vector<std::string> command;  // as typed, for the record
};

CLI::App* add_prove(CLI::App& app, ProveOptions& options);

// Returns the exit code.
int prove(const ProveOptions& options);

}  // namespace tare::app
