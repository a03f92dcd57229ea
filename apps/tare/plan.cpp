#include "plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "arms/roster.h"
#include "base/error.h"
#include "device/accelerator.h"
#include "device/machine.h"
#include "libraries.h"
#include "plan/certify.h"
#include "plan/combine.h"
#include "plan/holds.h"
#include "plan/plan.h"
#include "program.h"
#include "report/text.h"

namespace tare::app {
namespace {

void add_output(CLI::App* verb, PlanOptions& options) {
  verb->add_option("-o,--output", options.output, "write the plan to this file");
}

void add_check(CLI::App* verb, PlanOptions& options) {
  CLI::App* part = verb->add_subcommand("check", "Does a plan hold on this machine, and why not?");
  part->add_option("plan", options.files, "a plan's file")->required()->expected(1);
  part->add_flag("--json", options.json, "for programs");
  part->callback([&options] { options.check = true; });
}

void add_merge(CLI::App* verb, PlanOptions& options) {
  CLI::App* part = verb->add_subcommand("merge", "One plan of several of this machine");
  part->add_option("plans", options.files, "plans' files")->required()->expected(1, 1000);
  add_output(part, options);
  part->callback([&options] { options.merge = true; });
}

void add_diff(CLI::App* verb, PlanOptions& options) {
  CLI::App* part = verb->add_subcommand("diff", "What changes from one plan to another");
  part->add_option("plans", options.files, "two plans' files")->required()->expected(2);
  part->add_flag("--json", options.json, "for programs");
  part->callback([&options] { options.diff = true; });
}

std::size_t served(const tare::plan::Plan& plan) {
  return static_cast<std::size_t>(
      std::ranges::count(plan.decisions, judge::Decision::kServe, &tare::plan::Decision::decision));
}

void write(const PlanOptions& options, const tare::plan::Plan& plan) {
  tare::plan::write_plan(options.output, plan);
  fmt::print("{}: {} decisions, {} of them serve.\n", options.output, plan.decisions.size(),
             served(plan));
}

// Asked before anything is weighed: minutes of work must not end in a folder that is not there.
void need_output(const PlanOptions& options) {
  if (options.output.empty())
    fail(Blame::kInput, "Where should the plan go? Name a file: -o plan.json.");
  const std::filesystem::path folder = std::filesystem::absolute(options.output).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    fail(Blame::kInput, "-o {}: '{}' is no folder that you may write in.",
         report::printable(options.output), folder.string());
}

tare::plan::Plan certified(const PlanOptions& options, tare::plan::Plan plan) {
  if (options.certificates.empty()) return plan;
  const auto certificates = tare::plan::read_certificates(options.certificates);
  const std::size_t count = tare::plan::certify(plan, certificates);
  fmt::print("{} of {} decisions have a certificate of {}.\n", count, plan.decisions.size(),
             options.certificates);
  return plan;
}

tare::plan::DispatchWins dispatch_wins(const PlanOptions& options) {
  using tare::plan::DispatchWins;
  return options.serve_dispatch_wins ? DispatchWins::kServe : DispatchWins::kKeep;
}

// As it was judged, or, where an equality was asked for, judged anew at that one.
int make_from_results(const PlanOptions& options) {
  report::Results run = report::read_results(options.from);
  if (options.equality) {
    run.header.rules.equality = *options.equality;
    for (report::Row& row : run.rows) row.judgement = judge::judge(row.weighing, run.header.rules);
  }
  write(options, certified(options, tare::plan::make_plan(run, dispatch_wins(options))));
  return kExitDone;
}

int make_from_model(const PlanOptions& options) {
  HeadroomOptions how = options.weigh;
  if (options.equality) how.equality = *options.equality;
  // Without its samples a plan would vouch for what nobody can look at.
  if (how.json_path.empty())
    how.json_path = std::filesystem::path(options.output).replace_extension(".samples.jsonl");
  const Weighed weighed = weigh(how);
  if (weighed.exit_code == kExitInterrupted) return weighed.exit_code;
  write(options,
        certified(options, tare::plan::make_plan(weighed.results, dispatch_wins(options))));
  fmt::print("Samples: {}\n", how.json_path);
  return weighed.exit_code;
}

int make(const PlanOptions& options) {
  need_output(options);
  const bool weighs = !options.weigh.models.empty() || !options.weigh.shapes.empty();
  if (!options.from.empty() && weighs)
    fail(Blame::kInput, "A plan is made of a model or of a recorded run: give one of them.");
  if (options.from.empty() && !weighs)
    fail(Blame::kInput, "Of what? Give a model's file, a --shape, or --from a results file.");
  return options.from.empty() ? make_from_model(options) : make_from_results(options);
}

// Loads the modules as weighing does: a library of another version beside an unchanged module
// shows.
tare::plan::Here look(const tare::plan::Keys& keys) {
  tare::plan::Here here;
  here.machine = device::inspect();
  const bool on_device = !keys.accelerator.empty();
  if (on_device) {
    const device::Accelerator accelerator = device::inspect_cuda();
    here.accelerator = fmt::format("{}, driver {}", accelerator.name, accelerator.driver);
  }
  const auto where = on_device ? arms::Where::kCuda : arms::Where::kProcessor;
  for (const report::Library& library : libraries_here(where))
    if (library.found) here.modules.push_back({library.arm, library.title, library.module});
  return here;
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int check(const PlanOptions& options) {
  const std::string& path = options.files.front();
  const tare::plan::Plan plan = tare::plan::read_plan(path);
  const auto reasons = tare::plan::reasons_against(plan, look(plan.keys));
  if (options.json) {
    print_json({{"plan", path},
                {"holds", reasons.empty()},
                {"decisions", plan.decisions.size()},
                {"serve", served(plan)},
                {"reasons", reasons}});
  } else if (reasons.empty()) {
    fmt::print("{} holds here: {} decisions, {} of them serve.\n", path, plan.decisions.size(),
               served(plan));
  } else {
    fmt::print("{} does not hold here: nothing of it is served.\n", path);
    for (const std::string& reason : reasons) fmt::print("  {}\n", report::printable(reason));
  }
  return reasons.empty() ? kExitDone : kExitIncomplete;
}

int merge(const PlanOptions& options) {
  need_output(options);
  std::vector<tare::plan::Plan> plans;
  for (const std::string& path : options.files) plans.push_back(tare::plan::read_plan(path));
  write(options, tare::plan::merged(plans));
  return kExitDone;
}

int diff(const PlanOptions& options) {
  const auto lines = tare::plan::differences(tare::plan::read_plan(options.files[0]),
                                             tare::plan::read_plan(options.files[1]));
  if (options.json)
    print_json({{"plans", options.files}, {"alike", lines.empty()}, {"differences", lines}});
  else if (lines.empty())
    fmt::print("The two decide alike.\n");
  else
    for (const std::string& line : lines) fmt::print("{}\n", report::printable(line));
  return lines.empty() ? kExitDone : kExitIncomplete;
}

}  // namespace

CLI::App* add_plan(CLI::App& app, PlanOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "plan", "Weigh a model's projections, and write down which may be served on this machine");
  verb->add_option("model", options.weigh.models,
                   "config.json, .safetensors (or its index) or .gguf");
  verb->add_option("--from", options.from,
                   "decide from a results file (headroom --json) instead of weighing");
  verb->add_option(
      "--certificates", options.certificates,
      "of tare prove --json: each decision carries its own, and what one does not prove "
      "is not served");
  add_output(verb, options);
  verb->add_option("--equality", options.equality,
                   "what a served part must keep, as for tare headroom (default: incumbent; of a "
                   "recorded run, its own)")
      ->transform(equality_words());
  verb->add_flag(
      "--serve-dispatch-wins", options.serve_dispatch_wins,
      "serve wins, too, that are a cost per dispatch: whether the engine's way of calling "
      "has it tare weigh-model tells");
  verb->add_option("--rows", options.weigh.rows, "tokens per dispatch that it decides for")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--projections", options.weigh.projections, "only these, e.g. down,lm_head")
      ->delimiter(',');
  verb->add_option(
      "--shape", options.weigh.shapes,
      "k x n of layers that are served side by side, e.g. 896x9728; may be given again");
  verb->add_option(
      "--weights", options.weigh.weights,
      "the type that weights are served in, e.g. mlx-int4-g64; default: the file's own");
  verb->add_option("--device", options.weigh.where, "where engines run the model")
      ->transform(device_words());
  verb->add_option("--candidate", options.weigh.candidate, "the arm to weigh, by name");
  verb->add_option("--incumbent", options.weigh.incumbent,
                   "the arm to beat, by name; default: the fastest");
  verb->add_option("--threads", options.weigh.threads, "processors every arm may use");
  verb->add_option("--seconds-per-row", options.weigh.seconds_per_row,
                   "stop weighing a row after this long")
      ->capture_default_str();
  verb->add_option("--patience", options.weigh.patience_seconds,
                   "an arm that gives no answer for so many seconds hangs")
      ->capture_default_str();
  verb->add_option("--samples", options.weigh.json_path,
                   "write every sample to this file; default: beside the plan");
  // Parts take the footer that is there when they are made.
  verb->footer(
      "Examples:\n"
      "  tare plan ./model.gguf --equality bounded -o plan.json\n"
      "  tare plan --from run.jsonl --certificates proofs.jsonl -o plan.json\n"
      "  tare plan check plan.json --json\n"
      "  tare plan merge decode.json prompt.json -o plan.json\n"
      "  tare plan diff before.json after.json\n"
      "Exit codes: 0 done, the plan holds, or the two are alike; 1 a row was refused or failed, "
      "the "
      "plan does not hold, or they differ; 2 bad usage or input; 130 interrupted.");
  add_check(verb, options);
  add_merge(verb, options);
  add_diff(verb, options);
  return verb;
}

int plan(const PlanOptions& options) {
  if (options.check) return check(options);
  if (options.merge) return merge(options);
  if (options.diff) return diff(options);
  return make(options);
}

}  // namespace tare::app
