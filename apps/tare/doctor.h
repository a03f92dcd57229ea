// `tare doctor`: what this machine is, what disturbs it, which implementations are found, and what
// to do about each finding.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "calibrated.h"
#include "device/diagnosis.h"
#include "device/observation.h"
#include "report/results.h"

namespace tare::app {

struct DoctorOptions {
  bool json = false;
  bool colour = false;  // ANSI colours in the text; the caller knows whether it is a terminal and
                        // NO_COLOR is unset
  double seconds = 2;   // that the noise is watched for
  std::vector<report::Library> implementations;
  std::optional<Calibrated> calibrated;  // nothing: tare calibrate was not run
};

// The sections of the device, "calibration" and "implementations".
std::vector<device::Section> doctor_sections(const device::Observation& seen,
                                             const std::vector<report::Library>& implementations,
                                             const std::optional<Calibrated>& calibrated = {});

// For a person: a status word per line, the advice below it, and a count at the end.
std::string doctor_text(const std::vector<device::Section>& sections, bool colour);

// The same as JSON, with the raw figures; docs/doctor.md describes it.
std::string doctor_json(const device::Observation& seen,
                        const std::vector<report::Library>& implementations,
                        const std::optional<Calibrated>& calibrated = {});

// Observes, and writes one of the two to `out`. Returns 0: findings are no failure. Throws
// tare::Error when nothing can be measured (kMachine), when `seconds` makes no sense (kInput), or
// when `out` cannot be written (kMachine).
int doctor(const DoctorOptions& options, std::FILE* out = stdout);

}  // namespace tare::app
