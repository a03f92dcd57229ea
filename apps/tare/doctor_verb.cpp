#include "doctor_verb.h"

#include <array>

#include "arms/roster.h"
#include "base/interrupt.h"
#include "device/accelerator.h"
#include "device/machine.h"
#include "doctor.h"
#include "libraries.h"
#include "problem/problem.h"
#include "program.h"
#include "terminal.h"
#include "weigh/stage.h"

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
  // Arm hosts need buffers to share; nothing is weighed here, so the smallest will do.
  const std::array<tare_problem, 1> smallest{problem::bf16_problem({"", 1, 1, 1, ""}, 1)};
  const weigh::Stage stage(smallest);
  arms::RosterOptions roster;
  roster.executable = executable_path();
  roster.module_folder = arms::module_folder_of(roster.executable);
  roster.threads = device::inspect().threads;
  roster.inputs = &stage.inputs_memory();
  roster.outputs = &stage.outputs_memory();
  DoctorOptions doctor_options;
  doctor_options.json = options.json;
  doctor_options.colour = colours_on_stdout();
  doctor_options.implementations = libraries_of(arms::Roster(roster));
  if (device::observe_cuda().found) {
    roster.where = arms::Where::kCuda;
    for (report::Library& library : libraries_of(arms::Roster(roster)))
      doctor_options.implementations.push_back(std::move(library));
  }
  doctor_options.calibrated = load_calibrated(calibrated_path());
  return doctor(doctor_options);
}

}  // namespace tare::app
