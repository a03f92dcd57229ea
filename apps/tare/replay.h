// `tare replay`: prints the table of a results file again, every verdict recomputed from its
// samples.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tare::app {

struct ReplayOptions {
  std::string path;
  bool all = false;
};

CLI::App* add_replay(CLI::App& app, ReplayOptions& options);
int replay(const ReplayOptions& options);

}  // namespace tare::app
