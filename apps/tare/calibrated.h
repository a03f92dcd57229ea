// What a short calibration found, kept for `tare doctor` when the user asked for it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/calibration.h"

namespace tare::app {

struct Calibrated {
  struct Setting {
    std::string name;     // "cold, quiet"
    double smallest = 0;  // difference that is seen: 0.01 is 1 %
  };
  std::string date;
  std::string machine;  // device::summary
  double seconds_per_row = 0;
  std::vector<Setting> settings;
};

// Of the settings whose equal arms were watched to the end.
std::vector<Calibrated::Setting> settings_of(const std::vector<judge::CalibrationRow>& rows);

// $XDG_CACHE_HOME/tare/calibration.json, or ~/.cache/tare/...; "" where neither is set.
std::filesystem::path calibrated_path();

// As it stands in that file.
nlohmann::ordered_json to_json(const Calibrated& calibrated);

// Replaces the file in one step. Throws tare::Error (kMachine) when it cannot be written.
void save_calibrated(const std::filesystem::path& path, const Calibrated& calibrated);
// Nothing when there is none, or none that can be read.
std::optional<Calibrated> load_calibrated(const std::filesystem::path& path);

}  // namespace tare::app
