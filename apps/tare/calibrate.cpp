#include "calibrate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <random>

#include "base/error.h"
#include "base/interrupt.h"
#include "calibrated.h"
#include "calibration_plan.h"
#include "clock.h"
#include "device/accelerator.h"
#include "device/diagnosis.h"
#include "device/machine.h"
#include "headroom.h"
#include "judge/calibration.h"
#include "libraries.h"
#include "problem/problem.h"
#include "program.h"
#include "progress.h"
#include "report/calibration.h"
#include "terminal.h"
#include "weigh/stage.h"

namespace tare::app {
namespace {

using device::NeighbourKind;
using weigh::Residency;

// Hot: some 50 us on one thread, from the last-level cache. Cold: a projection of a small model.
constexpr std::uint64_t kHotSide = 1024, kColdSide = 1536;
constexpr double kHotSeconds = 3, kColdSeconds = 12;  // of one run of the full form
constexpr std::uint32_t kRuns = 3, kShortRuns = 6, kConfirmingRuns = 3;
// Cold rings take seconds to fill: so many runs share one. Hot arms are placed anew in every run.
constexpr std::uint32_t kColdRunsPerPlacement = 5;

// Where the arm of that name is. Throws tare::Error (kInput) when it cannot be used here.
EqualArm find_arm(const CalibrateOptions& options, std::uint32_t threads) {
  const std::array<tare_problem, 1> smallest{problem::bf16_problem({"", 1, 1, 1, ""}, 1)};
  const weigh::Stage stage(smallest);
  arms::RosterOptions all = roster_options(stage, threads);
  all.where = options.where;
  const arms::Roster roster(all);
  check_name(roster, "--arm", options.arm);
  for (const arms::RosterArm& arm : roster.arms())
    if (arm.part != arms::Part::kLimit && arm.description.name == options.arm)
      return {options.where, arm.module, options.arm};
  fail(Blame::kInput, "--arm {}: it cannot be used here; tare doctor says why.", options.arm);
}

std::string where_text(const report::CalibrationHeader& header) {
  return header.accelerator ? device::summary(*header.accelerator)
                            : device::summary(header.machine);
}

class Run {
 public:
  explicit Run(const CalibrateOptions& options) : options_(options) {
    header_.tare_version = TARE_VERSION;
    header_.date = now_utc();
    header_.command = options.command;
    header_.machine = device::inspect();
    header_.equivalence = judge::Rules().equivalence;
    header_.seconds_per_row = HeadroomOptions().seconds_per_row;
    header_.seed = options.seed ? *options.seed : std::random_device{}();
    if (options.where == arms::Where::kCuda) {
      header_.accelerator = device::inspect_cuda();
      header_.accelerator->launching = "graph, programmatic launch";
    }
    if (!options.arm.empty()) equal_ = find_arm(options, header_.machine.threads);
    random_.seed(header_.seed);
    if (!options.json_path.empty())
      writer_ = std::make_unique<report::CalibrationWriter>(options.json_path, header_);
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    report::Footer footer;
    try {
      for (const CalibrationSetting& setting : settings())
        options_.short_form ? try_briefly(setting) : try_everything(setting);
    } catch (const Interrupted&) {
      footer.interrupted = true;
    }
    footer.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (writer_) writer_->finish(footer);
    print();
    if (footer.interrupted) return kExitInterrupted;
    if (options_.save) save();
    return kExitDone;
  }

 private:
  std::vector<CalibrationSetting> settings() const {
    std::vector<CalibrationSetting> settings;
    for (const NeighbourKind neighbour : neighbours())
      for (const Residency residency : residencies())
        settings.push_back(setting_of(residency, neighbour));
    return settings;
  }

  std::vector<NeighbourKind> neighbours() const {
    if (!options_.neighbours.empty()) return options_.neighbours;
    if (options_.short_form || equal_) return {NeighbourKind::kNone};
    return {NeighbourKind::kNone, NeighbourKind::kCore, NeighbourKind::kBus};
  }

  std::vector<Residency> residencies() const {
    if (!options_.residencies.empty()) return options_.residencies;
    if (equal_) return {Residency::kCold};
    return {Residency::kHot, Residency::kCold};
  }

  CalibrationSetting setting_of(Residency residency, NeighbourKind neighbour) const {
    const bool hot = residency == Residency::kHot;
    const double usual = options_.short_form ? header_.seconds_per_row
                         : hot               ? kHotSeconds
                                             : kColdSeconds;
    CalibrationSetting setting;
    setting.residency = residency;
    setting.neighbour = neighbour;
    setting.k = setting.n = hot ? kHotSide : kColdSide;
    setting.threads = hot && !equal_ ? 1 : cold_threads(neighbour);
    const device::ArmMemory memory = device::arm_memory(header_.machine, header_.accelerator);
    setting.equal = equal_;
    setting.ring_bytes = options_.ring_bytes.value_or(static_cast<double>(memory.cold_ring_bytes));
    setting.cache_bytes = memory.cache_bytes;
    setting.traffic = header_.accelerator ? kDefaultDeviceTraffic : kDefaultTraffic;
    setting.placements = options_.placements;
    setting.seconds = options_.seconds.value_or(usual);
    return setting;
  }

  // A neighbour has a processor of its own, the last, where there are several: on one of the arms'
  // own it is a thief of time, beside which nothing was seen (2 % in 12 s, 0 of 4 runs).
  std::uint32_t cold_threads(NeighbourKind neighbour) const {
    const std::uint32_t all = header_.machine.threads;
    return neighbour == NeighbourKind::kNone ? all : std::max<std::uint32_t>(1, all - 1);
  }

  void try_briefly(const CalibrationSetting& setting) {
    CalibrationBench bench(setting);
    const Experiment equal = equal_arms_watched();
    const std::size_t before = trials_.size();
    Progress progress(kShortRuns + kConfirmingRuns, progress_on_stderr());
    repeat(bench, setting, equal, options_.runs.value_or(kShortRuns), progress);
    const auto rows = judge::summarise(std::span(trials_).subspan(before), header_.equivalence);
    for (const Experiment& planted : confirmation_of(rows.front().smallest90))
      repeat(bench, setting, planted, options_.runs.value_or(kConfirmingRuns), progress);
  }

  void try_everything(const CalibrationSetting& setting) {
    const std::vector<Experiment> experiments = chosen(setting);
    if (experiments.empty()) return;
    const std::uint32_t runs = options_.runs.value_or(kRuns);
    CalibrationBench bench(setting);
    Progress progress(experiments.size() * runs, progress_on_stderr());
    // By turns, so that an hour of noise falls on all experiments alike.
    const std::uint32_t turn = runs_per_placement();
    for (std::uint32_t done = 0; done < runs; done += turn)
      for (const Experiment& experiment : experiments)
        repeat(bench, setting, experiment, std::min(turn, runs - done), progress);
  }

  std::uint32_t runs_per_placement() const {
    return options_.runs_per_placement.value_or(kColdRunsPerPlacement);
  }

  std::vector<Experiment> chosen(const CalibrationSetting& setting) const {
    std::vector<Experiment> experiments = experiments_of(setting);
    std::erase_if(experiments, [&](const Experiment& experiment) {
      return experiment.name.find(options_.only) == std::string::npos;
    });
    return experiments;
  }

  void repeat(CalibrationBench& bench, const CalibrationSetting& setting,
              const Experiment& experiment, std::uint32_t runs, Progress& progress) {
    const bool hot = setting.residency == Residency::kHot;
    for (std::uint32_t run = 0; run < runs; ++run) {
      if (interrupt_requested()) throw Interrupted();
      progress.row(fmt::format("{}: {}", name_of(setting), experiment.name));
      if (hot || run % runs_per_placement() == 0) bench.prepare(experiment, random_());
      progress.step("weighing");
      trials_.push_back(bench.run(experiment, random_()));
      if (writer_) writer_->write(trials_.back());
      progress.row_done();
      progress.clear();
    }
  }

  void print() const {
    const auto rows = judge::summarise(trials_, header_.equivalence);
    fmt::print("{}\n{}", where_text(header_),
               options_.short_form ? report::short_calibration(rows, header_.seconds_per_row)
                                   : report::calibration_table(rows));
  }

  void save() const {
    const auto rows = judge::summarise(trials_, header_.equivalence);
    const std::filesystem::path path = calibrated_path();
    if (path.empty())
      fail(Blame::kInput, "--save: neither XDG_CACHE_HOME nor HOME names a folder; set one.");
    save_calibrated(path, {header_.date, device::summary(header_.machine), header_.seconds_per_row,
                           settings_of(rows)});
    fmt::print("kept for tare doctor in {}\n", path.string());
  }

  const CalibrateOptions& options_;
  report::CalibrationHeader header_;
  std::optional<EqualArm> equal_;
  std::mt19937_64 random_;
  std::vector<judge::Trial> trials_;
  std::unique_ptr<report::CalibrationWriter> writer_;
};

// The table of files that were measured before.
int print_again(const std::vector<std::string>& paths) {
  std::vector<judge::Trial> trials;
  bool complained = false;
  double equivalence = judge::Rules().equivalence;
  for (const std::string& path : paths) {
    const report::Calibration calibration = report::read_calibration(path);
    equivalence = calibration.header.equivalence;
    fmt::print("{}, {}\n", where_text(calibration.header), calibration.header.date);
    trials.insert(trials.end(), calibration.trials.begin(), calibration.trials.end());
    for (const std::string& complaint : calibration.complaints)
      fmt::print(stderr, "tare: {}\n", complaint);
    complained |= !calibration.complaints.empty();
  }
  fmt::print("{}", report::calibration_table(judge::summarise(trials, equivalence)));
  return complained ? kExitBadInput : kExitDone;
}

bool knows(const std::string& name) {
  for (const Residency residency : {Residency::kHot, Residency::kCold}) {
    CalibrationSetting setting;
    setting.residency = residency;
    for (const Experiment& experiment : experiments_of(setting))
      if (experiment.name.find(name) != std::string::npos) return true;
  }
  return false;
}

void check(const CalibrateOptions& options) {
  if (options.save && !options.short_form)
    fail(Blame::kInput, "--save keeps what the short form found: give --short, too.");
  if (options.short_form && !options.only.empty())
    fail(Blame::kInput, "--only chooses experiments of the full form: leave --short out.");
  if (!options.arm.empty() && (options.short_form || !options.only.empty()))
    fail(Blame::kInput,
         "--arm weighs one arm against itself, and nothing else: leave --short and "
         "--only out.");
  if (options.where == arms::Where::kCuda && options.arm.empty())
    fail(Blame::kInput,
         "--device cuda: arms of known cost run on the processor only; name an arm "
         "to weigh against itself (--arm cublaslt).");
  if (options.runs_per_placement && *options.runs_per_placement < 1)
    fail(Blame::kInput, "--runs-per-placement 0: at least 1.");
  if (options.runs && (*options.runs < 1 || *options.runs > 100'000))
    fail(Blame::kInput, "--runs {}: from 1 to 100000.", *options.runs);
  if (options.seconds && !(*options.seconds > 0 && *options.seconds <= 3600))
    fail(Blame::kInput, "--seconds {}: more than 0 and at most 3600.", *options.seconds);
  if (options.ring_bytes && !(*options.ring_bytes > 0 && *options.ring_bytes <= 1e13))
    fail(Blame::kInput, "--ring {}: bytes, more than 0 and at most 1e13.", *options.ring_bytes);
  if (!knows(options.only))
    fail(Blame::kInput,
         "--only '{}': no experiment is called so; some are '1 % slower', '2 % faster', 'a +200', "
         "'nothing', 'one region length'.",
         options.only);
}

}  // namespace

CLI::App* add_calibrate(CLI::App& app, CalibrateOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "calibrate", "What can Tare see on this machine? Weighs arms of known cost");
  verb->add_flag("--short", options.short_form,
                 "a minute: the least difference that a row of headroom sees here");
  verb->add_flag("--save", options.save, "with --short: keep the answer for tare doctor");
  verb->add_option("--runs", options.runs, "of each experiment (default: 3)");
  verb->add_option("--residency", options.residencies, "only these: cold,hot")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(std::map<std::string, Residency>{
                                              {"cold", Residency::kCold}, {"hot", Residency::kHot}})
                      .description("{cold,hot}"));
  verb->add_option("--neighbour", options.neighbours,
                   "only beside these: none, core (burns a processor), bus (burns the memory bus)")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, NeighbourKind>{{"none", NeighbourKind::kNone},
                                                           {"core", NeighbourKind::kCore},
                                                           {"bus", NeighbourKind::kBus}})
                      .description("{none,core,bus}"));
  verb->add_option("--placements", options.placements,
                   "weigh every verdict on so many, in fresh processes; a row does so with wins")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--arm", options.arm,
                   "weigh this arm of headroom's against itself: how often is that no draw?");
  verb->add_option("--device", options.where, "with --arm: where it runs")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, arms::Where>{{"cpu", arms::Where::kProcessor},
                                                         {"cuda", arms::Where::kCuda}})
                      .description("{cpu,cuda}"));
  verb->add_option("--runs-per-placement", options.runs_per_placement,
                   "cold runs that share one filled ring (default: 5)");
  verb->add_option("--only", options.only, "experiments whose name holds this, e.g. '1 %'");
  verb->add_option("--seconds", options.seconds, "most of one run (default: 3 hot, 12 cold)");
  verb->add_option("--ring", options.ring_bytes, "bytes of distinct cold weights of one arm");
  verb->add_option("--seed", options.seed, "of data and order; default: drawn, and recorded");
  verb->add_option("--json", options.json_path, "write every run to this file (docs/calibrate.md)");
  verb->add_option("--read", options.read_paths,
                   "weigh nothing: print the table of such files; may be given again")
      ->allow_extra_args(false);
  verb->footer(
      "Examples:\n"
      "  tare calibrate --short --save          what tare doctor then knows\n"
      "  tare calibrate --json calibration.jsonl\n"
      "  tare calibrate --residency cold --neighbour bus --runs 20 --only '2 %'\n"
      "  tare calibrate --device cuda --arm cublaslt --runs 500 --seconds 0.3\n"
      "  tare calibrate --read calibration.jsonl\n"
      "Exit codes: 0 done; 1 it could not measure; 2 bad usage or input; 130 interrupted.");
  return verb;
}

int calibrate(const CalibrateOptions& options) {
  check(options);
  if (!options.read_paths.empty()) return print_again(options.read_paths);
  watch_for_interrupts();
  return Run(options).run();
}

}  // namespace tare::app
