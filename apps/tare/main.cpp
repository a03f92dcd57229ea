// The command line: one file a verb; here they are put together, and errors become exit codes.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "arms/host_process.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "budget.h"
#include "calibrate.h"
#include "doctor_verb.h"
#include "headroom.h"
#include "model_verbs.h"
#include "plan.h"
#include "program.h"
#include "prove.h"
#include "replay.h"
#include "report/text.h"
#include "reveal.h"
#include "trap.h"

namespace tare::app {

std::string executable_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

namespace {

int run_verbs(int count, char** arguments) {
  CLI::App app("Tare: weigh the kernel, not the harness.", "tare");
  app.require_subcommand(1);
  app.set_version_flag("--version", TARE_VERSION);
  app.footer(
      "Start with:\n"
      "  tare doctor      is this machine fit to measure on?\n"
      "  tare headroom    the table of the two default models\n"
      "  tare budget      where a token's weights and time go\n"
      "Exit codes: 0 done; 1 something was refused or failed; 2 bad usage or input; 130 "
      "interrupted.");
  HeadroomOptions headroom_options, budget_options;
  ReplayOptions replay_options;
  DoctorVerbOptions doctor_options;
  CalibrateOptions calibrate_options;
  TrapOptions trap_options;
  PlanOptions plan_options;
  VerifyModelOptions verify_model_options;
  WeighModelOptions weigh_model_options;
  ProveOptions prove_options;
  RevealOptions reveal_options;
  CLI::App* headroom_verb = add_headroom(app, headroom_options);
  CLI::App* budget_verb = add_budget(app, budget_options);
  CLI::App* replay_verb = add_replay(app, replay_options);
  CLI::App* doctor_verb = add_doctor(app, doctor_options);
  CLI::App* calibrate_verb = add_calibrate(app, calibrate_options);
  CLI::App* trap_verb = add_trap(app, trap_options);
  CLI::App* plan_verb = add_plan(app, plan_options);
  CLI::App* verify_model_verb = add_verify_model(app, verify_model_options);
  CLI::App* weigh_model_verb = add_weigh_model(app, weigh_model_options);
  CLI::App* prove_verb = add_prove(app, prove_options);
  CLI::App* reveal_verb = add_reveal(app, reveal_options);
  headroom_options.command.assign(arguments + 1, arguments + count);
  budget_options.command = headroom_options.command;
  calibrate_options.command = headroom_options.command;
  plan_options.weigh.command = headroom_options.command;
  verify_model_options.model.command = headroom_options.command;
  weigh_model_options.model.command = headroom_options.command;
  prove_options.command = headroom_options.command;
  reveal_options.command = headroom_options.command;
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? kExitDone : kExitBadInput;
  }
  if (*headroom_verb) return headroom(headroom_options);
  if (*budget_verb) return budget(budget_options);
  if (*replay_verb) return replay(replay_options);
  if (*doctor_verb) return run_doctor(doctor_options);
  if (*calibrate_verb) return calibrate(calibrate_options);
  if (*trap_verb) return trap(trap_options);
  if (*plan_verb) return plan(plan_options);
  if (*verify_model_verb) return verify_model(verify_model_options);
  if (*weigh_model_verb) return weigh_model(weigh_model_options);
  if (*prove_verb) return prove(prove_options);
  if (*reveal_verb) return reveal(reveal_options);
  return kExitBadInput;
}

int run(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], arms::kHostVerb) == 0)
    return arms::run_host(arms::parse_host_arguments(count - 2, arguments + 2));
  return run_verbs(count, arguments);
}

}  // namespace
}  // namespace tare::app

int main(int count, char** arguments) {
  using namespace tare;
  try {
    return app::run(count, arguments);
  } catch (const Error& error) {
    fmt::print(stderr, "tare: {}\n", report::printable(error.what()));
    return error.blame() == Blame::kInput ? app::kExitBadInput : app::kExitIncomplete;
  } catch (const Interrupted&) {
    return app::kExitInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: {}. This is a fault of Tare's own; please report it.\n",
               error.what());
    return app::kExitIncomplete;
  }
}
