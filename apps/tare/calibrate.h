// `tare calibrate`: what can Tare see on this machine? Arms of known cost are weighed, and what was
// found is held against what was planted.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "device/neighbour.h"
#include "weigh/weighing.h"

namespace tare::app {

struct CalibrateOptions {
  bool short_form = false;
  bool save = false;
  std::optional<std::uint32_t> runs;  // of each experiment
  std::vector<weigh::Residency> residencies;
  std::vector<device::NeighbourKind> neighbours;
  std::string arm;  // to weigh against itself; "": arms of known cost
  arms::Where where = arms::Where::kProcessor;
  std::optional<std::uint32_t> runs_per_placement;
  std::uint32_t placements = 1;  // of every verdict
  std::string only;              // experiments whose name holds it
  std::optional<double> seconds;
  std::optional<double> ring_bytes;
  std::optional<std::uint64_t> seed;
  std::string json_path;
  std::vector<std::string> read_paths;
  std::vector<std::string> command;
};

CLI::App* add_calibrate(CLI::App& app, CalibrateOptions& options);
int calibrate(const CalibrateOptions& options);

}  // namespace tare::app
