#include "doctor_verb.h"

#include "base/interrupt.h"
#include "device/accelerator.h"
#include "doctor.h"
#include "libraries.h"
#include "terminal.h"

namespace tare::app {

CLI::App* add_doctor(CLI::App& app, DoctorVerbOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "doctor", "Is this machine fit to measure on, and which libraries are here?");
  verb->add_flag("--json", options.json, "for programs");
  verb->footer(
      "Examples:\n"
      "  tare doctor\n"
      "  tare doctor --json | jq .implementations\n"
      "Exit codes: 0 reported; 1 it could not measure; 2 bad usage.");
  return verb;
}

int run_doctor(const DoctorVerbOptions& options) {
  watch_for_interrupts();
  DoctorOptions doctor_options;
  doctor_options.json = options.json;
  doctor_options.colour = colours_on_stdout();
  doctor_options.implementations = libraries_here(arms::Where::kProcessor);
  if (device::observe_cuda().found)
    for (report::Library& library : libraries_here(arms::Where::kCuda))
      doctor_options.implementations.push_back(std::move(library));
  doctor_options.calibrated = load_calibrated(calibrated_path());
  return doctor(doctor_options);
}

}  // namespace tare::app
