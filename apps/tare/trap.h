// `tare trap`: the gallery of lies, each committed for real before a naive harness and before Tare.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tare::app {

struct TrapOptions {
  std::string name;  // of `run`
  std::string json_path;
  bool only_gpu = false;  // of `all`
  CLI::App *list = nullptr, *run = nullptr, *all = nullptr;
};

CLI::App* add_trap(CLI::App& app, TrapOptions& options);

// Returns the exit code: 1 when a lie was believed.
int trap(const TrapOptions& options);

}  // namespace tare::app
