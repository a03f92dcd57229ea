// `tare doctor` on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace tare::app {

struct DoctorVerbOptions {
  bool json = false;
};

CLI::App* add_doctor(CLI::App& app, DoctorVerbOptions& options);
int run_doctor(const DoctorVerbOptions& options);

}  // namespace tare::app
