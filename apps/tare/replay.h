// `tare replay`: prints the table of a results file again, every verdict recomputed from its
// samples, or explains one of them.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tare::app {

struct ReplayOptions {
  std::string path;
  bool all = false;
  bool budget = false;
  std::string explain;  // which row; "": the table
};

CLI::App* add_replay(CLI::App& app, ReplayOptions& options);
int replay(const ReplayOptions& options);

}  // namespace tare::app
