#include "trap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "clock.h"
#include "device/accelerator.h"
#include "device/machine.h"
#include "program.h"
#include "progress.h"
#include "report/text.h"
#include "terminal.h"
#include "traps/laboratory.h"
#include "traps/trap.h"

namespace tare::app {
namespace {

using traps::Outcome;
using traps::Trap;
using Json = nlohmann::ordered_json;

struct Finished {
  const Trap* trap;
  Outcome outcome;
  double seconds = 0;
};

const char* place_of(const Trap& trap) {
  return trap.needs_gpu ? "GPU" : "CPU";
}

// A lie that cannot be told here (a library is missing) is not caught, and says why.
Outcome commit(const Trap& trap, const traps::Laboratory& laboratory) {
  try {
    return trap.run(laboratory);
  } catch (const Error& error) {
    return {"", "could not be run", "", error.what(), false};
  }
}

Finished run_one(const Trap& trap, const traps::Laboratory& laboratory, Progress& progress) {
  progress.row(trap.name);
  progress.step("told to a naive harness, and to Tare");
  const auto start = std::chrono::steady_clock::now();
  Finished finished{&trap, commit(trap, laboratory)};
  finished.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.row_done();
  progress.clear();
  return finished;
}

// ---- what is printed

void print_list() {
  fmt::print("{:<7} {:<22} {:<4} {:<30} {}\n", "id", "name", "on", "named by", "lie");
  for (const Trap* trap : traps::catalogue())
    fmt::print("{:<7} {:<22} {:<4} {:<30} {}\n", trap->ids, trap->name, place_of(*trap), trap->gate,
               trap->title);
}

void print_story(const Finished& finished) {
  const auto& [trap, outcome, seconds] = finished;
  fmt::print("{} {}: {}\n", trap->ids, trap->name, trap->title);
  fmt::print("  seen    {}\n", trap->seen);
  fmt::print("  lie     {}\n", trap->lie);
  fmt::print("  naive   {}\n", report::printable(outcome.naive));
  fmt::print("  Tare    {}\n", report::printable(outcome.tare));
  if (!outcome.sentence.empty()) fmt::print("          {}\n", report::printable(outcome.sentence));
  fmt::print("  {}\n", outcome.caught ? fmt::format("caught by: {}", outcome.gate)
                                      : fmt::format("NOT CAUGHT (expected: {})", trap->gate));
}

void print_line(const Finished& finished) {
  const auto& [trap, outcome, seconds] = finished;
  fmt::print("{:<7} {:<21} {:<58} {:<44} {}\n", trap->ids, trap->name,
             report::printable(outcome.naive), report::printable(outcome.tare),
             outcome.naive.empty() ? "-"
             : outcome.caught      ? outcome.gate
                                   : "NOT CAUGHT");
  std::fflush(stdout);
}

// ---- what is written

Json json_of(const Finished& finished) {
  const auto& [trap, outcome, seconds] = finished;
  return {{"ids", trap->ids},
          {"name", trap->name},
          {"title", trap->title},
          {"seen", trap->seen},
          {"lie", trap->lie},
          {"expected", trap->gate},
          {"needs_gpu", trap->needs_gpu},
          {"naive", outcome.naive},
          {"tare", outcome.tare},
          {"gate", outcome.gate},
          {"sentence", outcome.sentence},
          {"caught", outcome.caught},
          {"seconds", seconds}};
}

// Opened before anything is run: minutes of work must not end in a folder that is not there.
class Report {
 public:
  explicit Report(const std::string& path) : path_(path) {
    if (path_.empty()) return;
    file_.open(path_);
    check();
  }
  void write(const std::vector<Finished>& finished) {
    if (path_.empty()) return;
    Json file{{"schema", "tare.traps/1"},
              {"tare_version", TARE_VERSION},
              {"date", now_utc()},
              {"machine", machine()},
              {"traps", Json::array()}};
    for (const Finished& one : finished) file["traps"].push_back(json_of(one));
    file_ << file.dump(1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
    check();
  }

 private:
  static std::string machine() {
    const device::AcceleratorObservation gpu = device::observe_cuda();
    const std::string here = device::summary(device::inspect());
    return gpu.found ? fmt::format("{}; {}", here, gpu.found->name) : here;
  }
  void check() {
    if (!file_)
      fail(Blame::kInput,
           "--json {}: cannot be written. Name a file in a folder that you may write.", path_);
  }
  std::string path_;
  std::ofstream file_;
};

// ---- the three verbs

const Trap& trap_named(const std::string& name) {
  if (const Trap* found = traps::find(name)) return *found;
  std::vector<std::string> names;
  for (const Trap* trap : traps::catalogue()) names.push_back(trap->name);
  fail(Blame::kInput, "No trap is called '{}'. There are: {}.", report::printable(name),
       fmt::join(names, ", "));
}

// Asked in a process of its own: naive harnesses are forked from this one, and CUDA does not
// survive a fork.
bool gpu_is_here() {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(device::observe_cuda().found ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool can_be_told(const Trap& trap) {
  return !trap.needs_gpu || gpu_is_here();
}

int run_named(const TrapOptions& options) {
  const Trap& trap = trap_named(options.name);
  if (!can_be_told(trap))
    fail(Blame::kMachine,
         "{} {} can be shown on a GPU only: {} ({}). Nothing was run; it is not faked here.",
         trap.ids, trap.name, trap.title, trap.lie);
  Report report(options.json_path);
  Progress progress(1, progress_on_stderr());
  const Finished finished = run_one(trap, traps::Laboratory(executable_path()), progress);
  print_story(finished);
  report.write({finished});
  return finished.outcome.caught ? kExitDone : kExitIncomplete;
}

void print_count(const std::vector<Finished>& finished) {
  std::size_t caught = 0, untold = 0;
  for (const Finished& one : finished) {
    caught += one.outcome.caught ? 1 : 0;
    untold += one.outcome.naive.empty() && one.trap->needs_gpu ? 1 : 0;
  }
  fmt::print("{} of {} lies caught; {} more need a GPU.\n", caught, finished.size() - untold,
             untold);
}

int run_all(const TrapOptions& options) {
  Report report(options.json_path);
  const traps::Laboratory laboratory(executable_path());
  std::vector<Finished> finished;
  bool all_caught = true;
  watch_for_interrupts();
  Progress progress(traps::catalogue().size(), progress_on_stderr());
  for (const Trap* trap : traps::catalogue()) {
    if (interrupt_requested()) break;
    if (options.only_gpu && !trap->needs_gpu) continue;
    const bool told = can_be_told(*trap);
    finished.push_back(told ? run_one(*trap, laboratory, progress)
                            : Finished{trap, {"", "needs a GPU", "", "", false}});
    if (interrupt_requested()) {  // what it was doing was interrupted, too
      finished.pop_back();
      break;
    }
    if (told) all_caught &= finished.back().outcome.caught;
    print_line(finished.back());
  }
  print_count(finished);
  report.write(finished);
  if (interrupt_requested()) return kExitInterrupted;
  return all_caught ? kExitDone : kExitIncomplete;
}

}  // namespace

CLI::App* add_trap(CLI::App& app, TrapOptions& options) {
  CLI::App* verb =
      app.add_subcommand("trap", "The gallery of lies: each told to a naive harness, and to Tare");
  verb->require_subcommand(1);
  // Parts take the footer that is there when they are made.
  verb->footer(
      "Examples:\n"
      "  tare trap run warm-weights\n"
      "  tare trap all --json traps.json\n"
      "Exit codes: 0 every lie was caught; 1 one was not, or needs a GPU; 2 bad usage or input; "
      "130 interrupted.");
  options.list = verb->add_subcommand("list", "Every lie of the catalogue, and what names it");
  options.run = verb->add_subcommand("run", "Commit one of them, in a few seconds");
  options.run->add_option("name", options.name, "its name or its id: warm-weights, T4")->required();
  options.all = verb->add_subcommand("all", "Commit all that can be shown here, in a few minutes");
  options.all->add_flag("--gpu", options.only_gpu, "only those that need a GPU");
  for (CLI::App* part : {options.run, options.all})
    part->add_option("--json", options.json_path, "write what came of it to this file");
  return verb;
}

int trap(const TrapOptions& options) {
  if (*options.run) return run_named(options);
  if (*options.all) return run_all(options);
  print_list();
  return kExitDone;
}

}  // namespace tare::app
