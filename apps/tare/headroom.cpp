#include "headroom.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "arms/host_environment.h"
#include "arms/roster.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "clock.h"
#include "device/diagnosis.h"
#include "device/machine.h"
#include "formats/weight_format.h"
#include "libraries.h"
#include "program.h"
#include "progress.h"
#include "report/results.h"
#include "report/table.h"
#include "report/text.h"
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

void note_other_types(const HeadroomOptions& options, problem::Model& model) {
  std::set<std::string> others;
  for (const problem::Projection& projection : model.projections) {
    const bool own = problem::weight_type(projection.stored) == weights_of(options, projection);
    if (!projection.stored.empty() && !own) others.insert(projection.stored);
  }
  if (!others.empty())
    model.notes.push_back(fmt::format("stored as {}: weighed by its shapes, as {}",
                                      fmt::join(others, ", "),
                                      options.weights.empty() ? "bf16" : options.weights));
}

std::vector<problem::Model> models_of(const HeadroomOptions& options) {
  std::vector<problem::Model> models;
  std::vector<std::string> kept = options.projections;
  for (const std::string& path : options.models) models.push_back(problem::read_model(path));
  if (models.empty() && options.shapes.empty()) {
    models = problem::default_models();
    if (kept.empty()) kept = {"q", "k", "v", "o"};
  }
  for (problem::Model& model : models) {
    problem::keep_only(model, kept);
    note_other_types(options, model);
  }
  for (const std::string& shape : options.shapes) {
    models.push_back(problem::parse_shape(shape));
    models.back().projections.front().stored = options.weights;
  }
  return models;
}

// A projection that has the shape, of one of the models.
struct Owner {
  std::string model, projection;
};

// One shape and precision, weighed once for everybody who has it.
struct Task {
  tare_problem problem{};  // of one row
  std::vector<Owner> owners;
};

bool alike(const tare_problem& a, const tare_problem& b) {
  return a.k == b.k && a.n == b.n && a.weights == b.weights && a.activations == b.activations;
}

std::vector<Task> tasks_of(const HeadroomOptions& options,
                           const std::vector<problem::Model>& models) {
  std::vector<Task> tasks;
  for (const problem::Model& model : models)
    for (const problem::Projection& projection : model.projections) {
      const std::uint32_t weights = weights_of(options, projection);
      const tare_problem problem =
          problem::problem_of(projection, 1, weights, activations_of(options, weights));
      auto task = std::find_if(tasks.begin(), tasks.end(),
                               [&](const Task& t) { return alike(t.problem, problem); });
      if (task == tasks.end()) task = tasks.insert(tasks.end(), {problem, {}});
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

// Bytes of the largest ring: whole slots, so that one huge projection counts as what it takes.
double ring_as_prepared(double ring_bytes, const std::vector<Task>& tasks) {
  double most = ring_bytes;
  for (const Task& task : tasks) {
    const double slot = weigh::weight_bytes(task.problem);
    most = std::max(most, std::max(2.0, std::ceil(ring_bytes / slot)) * slot);
  }
  return most;
}

// The ring of one arm: past the last-level cache, within the memory of where it runs.
std::uint64_t ring_bytes(const HeadroomOptions& options, const report::Header& header,
                         const std::vector<Task>& tasks) {
  const auto& accelerator = header.accelerator;
  const std::uint64_t cold =
      accelerator ? device::cold_ring_bytes(*accelerator) : device::cold_ring_bytes(header.machine);
  const std::uint64_t free_bytes =
      accelerator ? accelerator->available_bytes : header.machine.available_bytes;
  const double wanted = options.ring_bytes.value_or(static_cast<double>(cold));
  constexpr auto kRings = static_cast<double>(device::kRingsAtOnce);
  const double needed = kRings * ring_as_prepared(wanted, tasks);
  const double available = device::kMostOfMemory * static_cast<double>(free_bytes);
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
  Run(const HeadroomOptions& options, std::vector<problem::Model> models)
      : options_(options),
        tasks_(tasks_of(options, models)),
        stage_(problems_of(tasks_, options.rows)) {
    fill_header(std::move(models));
    tell_withheld_variables();
    roster_ = std::make_unique<arms::Roster>(roster_options());
    check_plugins();
    results_.header.libraries = libraries_of(*roster_);
    if (!options.json_path.empty())
      writer_ = std::make_unique<report::ResultsWriter>(options.json_path, results_.header);
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    print(report::table_head(results_.header, style_));
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
    print(report::table_foot(results_, style_));
    if (footer.interrupted) {
      fmt::print(stderr, "Interrupted: {} rows were measured{}.\n", results_.rows.size(),
                 writer_ ? " and are safe in " + options_.json_path : "");
      return kExitInterrupted;
    }
    return write_failed_ ? kExitIncomplete : report::exit_code(results_);
  }

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
    header.rules.most_placements = kMostPlacements;
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
    arms::RosterOptions roster;
    roster.executable = executable_path();
    roster.module_folder = arms::module_folder_of(roster.executable);
    roster.plugins = options_.plugins;
    roster.where = options_.where;
    roster.threads = results_.header.machine.threads;
    roster.inputs = &stage_.inputs_memory();
    roster.outputs = &stage_.outputs_memory();
    roster.patience =
        std::chrono::milliseconds(static_cast<long>(1000 * options_.patience_seconds));
    return roster;
  }

  // A plugin that cannot even be loaded is bad input: there is nothing to weigh.
  void check_plugins() const {
    for (const arms::Absent& absent : roster_->absent())
      if (absent.plugin) fail(Blame::kInput, "--arm {}", absent.reason);
  }

  void weigh_all() {
    weigh::RegionRunner runner(stage_, roster_->hosts());
    Progress progress(tasks_.size() * options_.rows.size(), progress_on_stderr());
    Bench bench{options_, results_.header, *roster_, stage_, runner, progress, watch_.get(), ""};
    for (const Task& task : tasks_) {
      ShapeRun shape(bench, task.problem);
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
  }

  void take(report::Row row, const Owner& owner) {
    row.model = owner.model;
    row.projection = owner.projection;
    if (writer_) keep([&] { writer_->write(row); });
    print(report::table_row(row, results_.header, style_));
    results_.rows.push_back(std::move(row));
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
  std::vector<Task> tasks_;
  weigh::Stage stage_;
  report::Results results_;
  std::unique_ptr<device::AcceleratorWatch> watch_;  // null: arms run on the processor
  std::unique_ptr<arms::Roster> roster_;
  std::unique_ptr<report::ResultsWriter> writer_;
  report::TableStyle style_{colours_on_stdout(), options_.all};
  bool write_failed_ = false;
};

void check(const HeadroomOptions& options) {
  if (!options.weights.empty() && formats::find_format(options.weights) == nullptr) {
    std::vector<std::string_view> names;
    for (const formats::WeightFormat& format : formats::weight_formats())
      names.push_back(format.name);
    fail(Blame::kInput, "--weights {}: must be one of {}.", report::printable(options.weights),
         fmt::join(names, ", "));
  }
  for (const std::uint32_t rows : options.rows)
    if (rows < 1 || rows > problem::kMostRows)
      fail(Blame::kInput, "--rows {}: from 1 to {}.", rows, problem::kMostRows);
  if (options.traffic && !(*options.traffic > 0 && *options.traffic <= 1e13))
    fail(Blame::kInput, "--traffic {}: bytes, more than 0 and at most 1e13.", *options.traffic);
  if (options.ring_bytes && !(*options.ring_bytes > 0 && *options.ring_bytes <= 1e13))
    fail(Blame::kInput, "--ring {}: bytes, more than 0 and at most 1e13.", *options.ring_bytes);
}

}  // namespace

CLI::App* add_headroom(CLI::App& app, HeadroomOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "headroom",
      "How far is this machine's fastest library from the limit, and what would a candidate gain?");
  verb->add_option("--model", options.models,
                   "config.json, .safetensors (or its index) or .gguf; may be given again")
      ->allow_extra_args(false);
  verb->add_option("--shape", options.shapes, "k x n, e.g. 4096x1024; may be given again")
      ->allow_extra_args(false);
  verb->add_option("--weights", options.weights,
                   "the weights' type, e.g. bf16, mlx-int4-g64, q4_k; default: as a model's file "
                   "stores them, else bf16");
  verb->add_option("--activations", options.activations,
                   "bf16, or bf16-as-int8: rounded to 8 bits inside the dispatch, as ggml does for "
                   "its quantised weights (the default for those)")
      ->check(CLI::IsMember({"bf16", "bf16-as-int8"}));
  verb->add_option("--projections", options.projections,
                   "only these, e.g. q,k,v,o,gate,up,down,lm_head")
      ->delimiter(',');
  verb->add_option("--rows", options.rows, "tokens per dispatch, e.g. 1,8,32")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--arm", options.plugins,
                   "your own kernel: a shared library with tare/arm.h's ABI")
      ->allow_extra_args(false);
  verb->add_option("--candidate", options.candidate,
                   "the arm to weigh, by name; default: your --arm, else Tare's own kernel");
  verb->add_option("--incumbent", options.incumbent,
                   "the arm to beat, by name; default: the fastest");
  verb->add_option("--mode", options.mode,
                   "prepared, or per-call: everything anew in each call, as a naive user would")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, weigh::Mode>{{"prepared", weigh::Mode::kPrepared},
                                                         {"per-call", weigh::Mode::kPerCall}})
                      .description("{prepared,per-call}"));
  verb->add_option("--residency", options.residency,
                   "cold: weights past the cache, as in a decode; hot: one copy, re-read")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, weigh::Residency>{{"cold", weigh::Residency::kCold},
                                                              {"hot", weigh::Residency::kHot}})
                      .description("{cold,hot}"));
  verb->add_option("--device", options.where, "where arms run: the processor, or the first GPU")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, arms::Where>{{"cpu", arms::Where::kProcessor},
                                                         {"cuda", arms::Where::kCuda}})
                      .description("{cpu,cuda}"));
  verb->add_flag("--stream-launches", options.stream_launches,
                 "on a GPU: launch every dispatch by itself, not a region as one graph");
  verb->add_flag("--overlap,!--no-overlap", options.overlap,
                 "on a GPU: offer programmatic dependent launch to all arms (the default)");
  verb->add_option("--traffic", options.traffic,
                   "bytes of weights one timed region reads (default 1e9; on a GPU 1e10)");
  verb->add_option(
      "--ring", options.ring_bytes,
      "bytes of distinct weights an arm rotates through (default 4 x last-level cache)");
  verb->add_option("--threads", options.threads, "processors every arm may use (default: all)");
  verb->add_option("--seconds-per-row", options.seconds_per_row,
                   "stop weighing a row after this long")
      ->capture_default_str();
  verb->add_option("--patience", options.patience_seconds,
                   "an arm that gives no answer for so many seconds hangs")
      ->capture_default_str();
  verb->add_option("--seed", options.seed, "of data and order; default: drawn, and recorded");
  verb->add_option("--json", options.json_path,
                   "write every sample and verdict to this file (docs/results-schema.md)");
  verb->add_flag("--all", options.all, "show the other incumbents, too");
  verb->footer(
      "Examples:\n"
      "  tare headroom                                       the two default models\n"
      "  tare headroom --model ./config.json --rows 1,4\n"
      "  tare headroom --shape 4096x1024 --arm ./libmine.so  your kernel against the fastest "
      "library\n"
      "  tare headroom --shape 4096x1024 --weights mlx-int4-g64\n"
      "  tare headroom --traffic 64e6                        see the error that too little traffic "
      "makes\n"
      "  tare headroom --json run.jsonl && tare replay run.jsonl\n"
      "Exit codes: 0 every row has a verdict; 1 a row was refused or failed; 2 bad usage or input; "
      "130 interrupted.");
  return verb;
}

int headroom(const HeadroomOptions& options) {
  check(options);
  watch_for_interrupts();
  return Run(options, models_of(options)).run();
}

}  // namespace tare::app
