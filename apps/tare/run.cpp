#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>

#include "arms/host_environment.h"
#include "arms/roster.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "chain_run.h"
#include "clock.h"
#include "device/accelerator.h"
#include "device/diagnosis.h"
#include "device/machine.h"
#include "libraries.h"
#include "program.h"
#include "progress.h"
#include "report/budget.h"
#include "report/results.h"
#include "report/table.h"
#include "report/text.h"
#include "row_proving.h"
#include "shape_run.h"
#include "tasks.h"
#include "terminal.h"

namespace tare::app {
namespace {

std::vector<tare_problem> problems_of(const std::vector<Task>& tasks,
                                      const std::vector<std::uint32_t>& rows) {
  std::vector<tare_problem> problems;
  for (const Task& task : tasks)
    for (const std::uint32_t count : rows) {
      problems.push_back(task.problem);
      problems.back().rows = count;
    }
  return problems;
}

// Row counts that the shared buffers must hold: to tell whether a row depends on what is dispatched
// with it, it is dispatched with more than was asked for, too.
std::vector<std::uint32_t> rows_on_stage(const HeadroomOptions& options) {
  std::vector<std::uint32_t> rows = options.rows;
  for (const std::uint32_t asked : options.rows)
    rows.push_back(most_rows_proved(options.equality, asked));
  return rows;
}

// Bytes of the largest ring: whole slots, so that one huge projection counts as what it takes.
double ring_as_prepared(double ring_bytes, const std::vector<Task>& tasks) {
  double most = ring_bytes;
  for (const Task& task : tasks) {
    const double slot = weigh::weight_bytes(task.problem);
    most = std::max(most, std::ceil(ring_bytes / slot) * slot);
  }
  return most;
}

// The ring of one arm: past the last-level cache, within the memory of where it runs.
std::uint64_t ring_bytes(const HeadroomOptions& options, const report::Header& header,
                         const std::vector<Task>& tasks) {
  const auto& accelerator = header.accelerator;
  const device::ArmMemory memory = device::arm_memory(header.machine, accelerator);
  const double wanted = options.ring_bytes.value_or(static_cast<double>(memory.cold_ring_bytes));
  constexpr auto kRings = static_cast<double>(device::kRingsAtOnce);
  const double needed = kRings * ring_as_prepared(wanted, tasks);
  const double available = device::kMostOfMemory * static_cast<double>(memory.available_bytes);
  if (options.residency == weigh::Residency::kCold && needed > available)
    fail(Blame::kMachine,
         "Not enough {}memory for cold weights: {:.0f} arms with a ring of {:.2f} GB each need "
         "{:.1f} GB, and {:.1f} GB "
         "is to be had. Close other programs, weigh smaller projections, or give a smaller --ring "
         "(the ring gate says "
         "whether it is still cold) or --residency hot.",
         accelerator ? "device " : "", kRings, ring_as_prepared(wanted, tasks) / 1e9, needed / 1e9,
         available / 1e9);
  return static_cast<std::uint64_t>(wanted);
}

std::uint32_t device_flags(const HeadroomOptions& options) {
  return (options.stream_launches ? std::uint32_t{TARE_REGION_STREAM} : 0U) |
         (options.overlap ? std::uint32_t{TARE_REGION_PROGRAMMATIC} : 0U);
}

device::Accelerator accelerator_of(const HeadroomOptions& options) {
  device::Accelerator accelerator = device::inspect_cuda();
  accelerator.launching = fmt::format("{}, {}", options.stream_launches ? "stream" : "graph",
                                      options.overlap ? "programmatic launch" : "plain launch");
  return accelerator;
}

// One run of the verb: what was found, what is weighed, where the results go.
class Run {
 public:
  Run(const HeadroomOptions& options, std::vector<problem::Model> models, View view)
      : options_(options),
        view_(view),
        tasks_(tasks_of(options, models)),
        stage_(problems_of(tasks_, rows_on_stage(options))) {
    fill_header(std::move(models));
    tell_withheld_variables();
    roster_ = std::make_unique<arms::Roster>(roster_options());
    check_plugins(*roster_);
    check_name(*roster_, "--candidate", options.candidate);
    check_name(*roster_, "--incumbent", options.incumbent);
    results_.header.libraries = libraries_of(*roster_);
    if (!options.json_path.empty())
      writer_ = std::make_unique<report::ResultsWriter>(options.json_path, results_.header);
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    if (view_ == View::kTable) print(report::table_head(results_.header, style_));
    report::Footer footer;
    try {
      weigh_all();
    } catch (const Interrupted&) {
      footer.interrupted = true;
    }
    footer.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    results_.footer = footer;
    if (writer_) keep([&] { writer_->finish(footer); });
    print(view_ == View::kTable ? report::table_foot(results_, style_)
                                : report::budget_text(results_, style_));
    if (footer.interrupted) {
      fmt::print(stderr, "Interrupted: {} rows were measured{}.\n", results_.rows.size(),
                 writer_ ? " and are safe in " + options_.json_path : "");
      return kExitInterrupted;
    }
    return write_failed_ ? kExitIncomplete : report::exit_code(results_);
  }

  report::Results take_results() { return std::move(results_); }

 private:
  void fill_header(std::vector<problem::Model> models) {
    report::Header& header = results_.header;
    header.tare_version = TARE_VERSION;
    header.date = now_utc();
    header.command = options_.command;
    header.machine = device::inspect();
    header.machine.threads = threads_of(options_.threads, header.machine.threads);
    if (options_.where == arms::Where::kCuda) use_accelerator(header);
    header.ring_bytes = ring_bytes(options_, header, tasks_);
    header.models = std::move(models);
    header.rows = options_.rows;
    header.mode = options_.mode;
    header.residency = options_.residency;
    header.traffic =
        options_.traffic.value_or(header.accelerator ? kDefaultDeviceTraffic : kDefaultTraffic);
    header.rules.verdict_placements = kVerdictPlacements;
    header.rules.equivalence_placements = kVerdictPlacements;
    header.rules.most_placements = kMostPlacements;
    header.rules.dispatch_costs_by_slice = true;
    header.rules.limit_of_all_placements = true;
    if (header.accelerator) header.rules.calling_cost_at_most = kDeviceCallingCost;
    header.rules.equality = options_.equality;
    header.seed = options_.seed ? *options_.seed : std::random_device{}();
  }

  void use_accelerator(report::Header& header) {
    header.accelerator = accelerator_of(options_);
    stage_.set_device_flags(device_flags(options_));
    watch_ = std::make_unique<device::AcceleratorWatch>();
    // None of ours is there yet.
    if (!watch_->others().empty()) tell_others(watch_->others(), header.accelerator->name);
  }

  static void tell_others(const std::vector<device::AcceleratorProcess>& others,
                          const std::string& accelerator) {
    std::vector<std::string> names;
    names.reserve(others.size());
    for (const device::AcceleratorProcess& other : others)
      names.push_back(
          fmt::format("{} ({})", other.name.empty() ? "unknown" : other.name, other.pid));
    fmt::print(stderr,
               "tare: others use {}, too: {}. While they are at work no time is a kernel's "
               "alone: end them.\n",
               accelerator, report::printable(fmt::format("{}", fmt::join(names, ", "))));
  }

  static void tell_withheld_variables() {
    for (const device::Hobble& hobble : arms::withheld_variables())
      fmt::print(stderr,
                 "tare: {}={} {}: arms run without it. An engine that has it is slower: {}.\n",
                 hobble.variable, report::printable(hobble.value), hobble.effect, hobble.advice);
  }

  arms::RosterOptions roster_options() const {
    arms::RosterOptions roster = app::roster_options(stage_, results_.header.machine.threads);
    roster.plugins = options_.plugins;
    roster.where = options_.where;
    roster.patience = patience_of(options_.patience_seconds);
    return roster;
  }

  void weigh_all() {
    weigh::RegionRunner runner(stage_, roster_->hosts());
    const std::size_t chains =
        options_.chain ? contests().size() * results_.header.models.size() : 0;
    Progress progress((tasks_.size() + chains) * options_.rows.size(), progress_on_stderr());
    Bench bench{options_, results_.header, *roster_, stage_, runner, progress, watch_.get(), ""};
    for (const Task& task : tasks_) {
      ShapeRun shape(bench, task.problem, task.parts);
      for (const std::uint32_t rows : options_.rows) {
        if (interrupt_requested()) throw Interrupted();
        progress.row(fmt::format("{} {}x{}, {} rows", task.owners.front().model, task.problem.k,
                                 task.problem.n, rows));
        const report::Row row = shape.weigh(rows);
        progress.row_done();
        progress.clear();
        for (const Owner& owner : task.owners) take(row, owner);
      }
    }
    if (options_.chain) weigh_chains(bench);
  }

  void weigh_chains(Bench& bench) {
    for (const problem::Model& model : results_.header.models) {
      ChainRun chain(bench, model, [&](const problem::Matrix& matrix) {
        return problem_of_matrix(options_, model, matrix);
      });
      for (const std::uint32_t rows : options_.rows)
        for (const ChainRun::Contest contest : contests()) {
          if (interrupt_requested()) throw Interrupted();
          bench.progress.row(fmt::format("{} chain, {} rows", model.name, rows));
          report::Row row = chain.weigh(rows, results_.rows, contest);
          bench.progress.row_done();
          bench.progress.clear();
          const Owner owner{row.model, row.projection};
          take(std::move(row), owner);
        }
    }
  }

  std::vector<ChainRun::Contest> contests() const {
    if (!options_.fused) return {ChainRun::Contest::kLibraryAgainstCandidate};
    return {ChainRun::Contest::kLibraryAgainstCandidate, ChainRun::Contest::kApartAgainstFused};
  }

  void take(report::Row row, const Owner& owner) {
    row.model = owner.model;
    row.projection = owner.projection;
    if (writer_) keep([&] { writer_->write(row); });
    results_.rows.push_back(std::move(row));
    if (view_ == View::kTable) print(report::table_row(results_, results_.rows.size() - 1, style_));
  }

  // A disk that fills up costs the file its next rows, not the user the table.
  template <typename Write>
  void keep(Write&& write) {
    try {
      write();
    } catch (const Error& error) {
      fmt::print(stderr, "tare: {}\n", error.what());
      writer_.reset();
      write_failed_ = true;
    }
  }

  static void print(const std::string& lines) {
    fmt::print("{}", lines);
    std::fflush(stdout);
  }

  const HeadroomOptions& options_;
  View view_;
  std::vector<Task> tasks_;
  weigh::Stage stage_;
  report::Results results_;
  std::unique_ptr<device::AcceleratorWatch> watch_;  // null: arms run on the processor
  std::unique_ptr<arms::Roster> roster_;
  std::unique_ptr<report::ResultsWriter> writer_;
  report::TableStyle style_{colours_on_stdout(), options_.all};
  bool write_failed_ = false;
};

}  // namespace

Weighed run(const HeadroomOptions& options, View view) {
  watch_for_interrupts();
  Run run(options, models_of(options), view);
  const int exit_code = run.run();
  return {run.take_results(), exit_code};
}

}  // namespace tare::app
