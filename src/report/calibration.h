// A file of `tare calibrate`: a header, a line a trial, a footer (JSON Lines). docs/calibrate.md
// describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/accelerator.h"
#include "device/machine.h"
#include "judge/calibration.h"
#include "report/line_file.h"
#include "report/results.h"

namespace tare::report {

inline constexpr const char* kCalibrationSchema = "tare.calibrate/1";

struct CalibrationHeader {
  std::string tare_version;
  std::string date;  // "2026-11-30T12:00:00Z"
  std::vector<std::string> command;
  device::Machine machine;
  std::optional<device::Accelerator> accelerator;  // where arms ran; nothing: on the processor
  double equivalence = 0.01;
  double seconds_per_row = 0;  // what a row of `tare headroom` takes by default
  std::uint64_t seed = 0;
};

// Throws as LineFile does.
class CalibrationWriter {
 public:
  CalibrationWriter(const std::filesystem::path& path, const CalibrationHeader& header);
  void write(const judge::Trial& trial);
  void finish(const Footer& footer);

 private:
  LineFile file_;
  std::size_t trials_ = 0;
};

struct Calibration {
  CalibrationHeader header;
  std::vector<judge::Trial> trials;
  std::optional<Footer> footer;         // absent: it was cut short
  std::vector<std::string> complaints;  // lines that could not be used, and why
};

// Reads what can be read. Throws tare::Error (kInput) when nothing can: no file, another schema, a
// broken header.
Calibration read_calibration(const std::filesystem::path& path);

// The whole table, a line an experiment, and what all of them say together.
std::string calibration_table(const std::vector<judge::CalibrationRow>& rows);

// The short form: what is the least difference that a row of headroom sees here?
std::string short_calibration(const std::vector<judge::CalibrationRow>& rows,
                              double seconds_per_row);

}  // namespace tare::report
