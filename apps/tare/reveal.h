// `tare reveal`: in which order does an implementation add?
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "arms/roster.h"

namespace tare::app {

struct RevealOptions {
  std::vector<std::string> plugins;
  std::vector<std::string> names;  // of arms; none: the plugins', else all
  std::string shape = "1536x64";
  std::vector<std::string> weights{"bf16"};
  std::vector<std::uint32_t> rows{1, 2, 8, 32};
  arms::Where where = arms::Where::kProcessor;
  std::uint32_t threads = 0;
  double patience_seconds = 20;
  std::size_t lines = 12;  // of a tree
  std::string json_path;
  std::vector<std::string> command;  // as typed, for the record
};

CLI::App* add_reveal(CLI::App& app, RevealOptions& options);

// Returns the exit code.
int reveal(const RevealOptions& options);

}  // namespace tare::app
