// `tare budget`: where the weights and the time of a decode token go, and what serving the winning
// rows would give it.
#pragma once

#include <CLI/CLI.hpp>

#include "headroom.h"

namespace tare::app {

// Adds the verb to the command line; `options` is filled when it is parsed.
CLI::App* add_budget(CLI::App& app, HeadroomOptions& options);

// Returns the exit code.
int budget(const HeadroomOptions& options);

}  // namespace tare::app
