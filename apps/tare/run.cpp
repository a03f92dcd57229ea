#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "arms/host_environment.h"
#include "arms/roster.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "chain_run.h"
#include "clock.h"
#include "device/accelerator.h"
#include "device/diagnosis.h"
#include "device/machine.h"
#include "formats/weight_format.h"
#include "libraries.h"
#include "program.h"
#include "progress.h"
#include "report/budget.h"
#include "report/results.h"
#include "report/table.h"
#include "report/text.h"
#include "row_proving.h"
#include "shape_run.h"
#include "terminal.h"

namespace tare::app {
namespace {

// Precision is part of the problem: the weights' type is the file's own, or the one asked for, or
// bf16. f16 and f32 are weighed when they are asked for only: nothing here multiplies them, and a
// table of refusals helps nobody.
std::uint32_t weights_of(const HeadroomOptions& options, const problem::Projection& projection) {
  if (!options.weights.empty()) return formats::type_number(options.weights);
  const std::uint32_t stored = problem::weight_type(projection.stored);
  const bool plain = stored == 0 || stored == TARE_F16 || stored == TARE_F32;
  return plain ? std::uint32_t{TARE_BF16} : stored;
}

std::uint32_t activations_of(const HeadroomOptions& options, std::uint32_t weights) {
  if (options.activations.empty()) return problem::usual_activations(weights);
  return formats::type_number(options.activations);
}

// Of all projections, also of those that a filter leaves out: what a token reads is counted with
// them.
void decide_types(const HeadroomOptions& options, problem::Model& model) {
  for (problem::Projection& projection : model.projections) {
    const std::uint32_t weights = weights_of(options, projection);
    projection.weighed = formats::type_name(weights);
    model.bytes_per_token +=
        static_cast<double>(projection.count) *
        formats::weight_bytes(weights, projection.k, projection.n, projection.bias);
  }
}

void note_other_types(const HeadroomOptions& options, problem::Model& model) {
  std::set<std::string> others;
  for (const problem::Projection& projection : model.projections) {
    const bool own =
        problem::weight_type(projection.stored) == formats::type_number(projection.weighed);
    if (!projection.stored.empty() && !own) others.insert(projection.stored);
  }
  if (!others.empty())
    model.notes.push_back(fmt::format("stored as {}: weighed by its shapes, as {}",
                                      fmt::join(others, ", "),
                                      options.weights.empty() ? "bf16" : options.weights));
}

// A file, or one of the models that are built in.
problem::Model model_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    for (problem::Model& model : problem::default_models())
      if (model.name == path) return std::move(model);
  return problem::read_model(path);
}

std::vector<problem::Model> models_of(const HeadroomOptions& options) {
  std::vector<problem::Model> models;
  std::vector<std::string> kept = options.projections;
  for (const std::string& path : options.models) models.push_back(model_of(path));
  if (models.empty() && options.shapes.empty()) {
    models = problem::default_models();
    if (kept.empty()) kept = {"q", "k", "v", "o"};
  }
  for (problem::Model& model : models) {
    options.bias ? problem::take_biases(model) : problem::leave_biases(model);
    if (options.fused) problem::fuse(model);
    decide_types(options, model);
    problem::keep_only(model, kept);
    note_other_types(options, model);
  }
  for (const std::string& shape : options.shapes) {
    models.push_back(problem::parse_shape(shape));
    problem::Projection& projection = models.back().projections.front();
    projection.stored = options.weights;
    if (options.bias) projection.bias = problem::usual_bias(weights_of(options, projection));
    decide_types(options, models.back());
  }
  return models;
}

// A projection that has the shape, of one of the models.
struct Owner {
  std::string model, projection;
};

// One shape and precision, weighed once for everybody who has it.
struct Task {
  tare_problem problem{};            // of one row
  std::vector<std::uint64_t> parts;  // of a fused projection
  std::vector<Owner> owners;
};

bool alike(const tare_problem& a, const tare_problem& b) {
  return a.k == b.k && a.n == b.n && a.weights == b.weights && a.activations == b.activations &&
         a.bias == b.bias;
}

std::vector<Task> tasks_of(const HeadroomOptions& options,
                           const std::vector<problem::Model>& models) {
  std::vector<Task> tasks;
  for (const problem::Model& model : models)
    for (const problem::Projection& projection : model.projections) {
      const std::uint32_t weights = formats::type_number(projection.weighed);
      const tare_problem problem =
          problem::problem_of(projection, 1, weights, activations_of(options, weights));
      auto task = std::find_if(tasks.begin(), tasks.end(), [&](const Task& t) {
        return alike(t.problem, problem) && t.parts == projection.parts;
      });
      if (task == tasks.end()) task = tasks.insert(tasks.end(), {problem, projection.parts, {}});
      task->owners.push_back({model.name, projection.name});
    }
  return tasks;
}

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
    if (options_.threads > header.machine.threads)
      fail(Blame::kInput, "--threads {}: this process may use {} processors.", options_.threads,
           header.machine.threads);
    if (options_.threads > 0) header.machine.threads = options_.threads;
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
    header.rules.equality = options_.equality;
    header.seed = options_.seed ? *options_.seed : std::random_device{}();
  }

  void use_accelerator(report::Header& header) {
    header.accelerator = accelerator_of(options_);
    stage_.set_device_flags(device_flags(options_));
    watch_ = std::make_unique<device::AcceleratorWatch>();
    // None of ours is there yet.
    if (const auto others = watch_->processes(); others.value_or(0) > 0)
      fmt::print(stderr,
                 "tare: {} other processes use {}: rows may be refused as noisy. nvidia-smi names "
                 "them.\n",
                 *others, header.accelerator->name);
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
        return problem_of_matrix(model, matrix);
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

  tare_problem problem_of_matrix(const problem::Model& model, const problem::Matrix& matrix) const {
    const auto projection = std::ranges::find_if(model.projections, [&](const auto& p) {
      return p.k == matrix.k && p.n == matrix.n && p.stored == matrix.stored &&
             p.parts == matrix.parts && p.bias == matrix.bias;
    });
    if (projection == model.projections.end())
      fail(Blame::kInput, "'{}' of '{}' is none of its projections.", matrix.name, model.name);
    const std::uint32_t weights = formats::type_number(projection->weighed);
    return problem::problem_of(*projection, 1, weights, activations_of(options_, weights));
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
