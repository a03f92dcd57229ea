#include "prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "arms/roster.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "device/machine.h"
#include "formats/weight_format.h"
#include "headroom.h"
#include "libraries.h"
#include "line_header.h"
#include "load/lay_down.h"
#include "load/stored_matrix.h"
#include "problem/problem.h"
#include "program.h"
#include "progress.h"
#include "prove_cases.h"
#include "prover.h"
#include "report/line_file.h"
#include "report/proof_file.h"
#include "report/proof_table.h"
#include "report/text.h"
#include "terminal.h"
#include "weigh/stage.h"

namespace tare::app {
namespace {

constexpr std::uint32_t kMostRowsByDefault = 32;

using Equality = bool (*)(const prove::Certificate&);
const std::map<std::string, Equality>& equalities() {
  static const std::map<std::string, Equality> all = {{"incumbent", prove::proves_incumbent},
                                                      {"one-row", prove::proves_one_row},
                                                      {"self", prove::proves_self},
                                                      {"bounded", prove::proves_bounded}};
  return all;
}

device::Machine machine_of(const ProveOptions& options) {
  device::Machine machine = device::inspect();
  machine.threads = threads_of(options.threads, machine.threads);
  return machine;
}

class Run {
 public:
  explicit Run(const ProveOptions& options)
      : options_(options),
        machine_(machine_of(options)),
        accelerator_(accelerator_at(options.where)),
        cases_(cases_of(options)),
        stage_(problems_of(cases_)),
        roster_(roster_options()),
        seed_(options.seed ? *options.seed : std::random_device{}()) {
    check_plugins(roster_);
    // A proof's host, one of guarded pages (as handed over and as packed), the incumbent's the
    // same.
    for (const Case& one : cases_) check_memory(one.problem, 5, "prove");
    for (const std::string& name : options.candidates) check_name(roster_, "--candidate", name);
    check_name(roster_, "--incumbent", options.incumbent);
    if (options.json_path.empty()) return;
    file_ = std::make_unique<report::LineFile>(options.json_path);
    file_->write(header().dump());
  }

  int run() {
    bool complete = true;
    for (Case& one : cases_) complete &= one.matrix ? prove_model_case(one) : prove_case(one);
    return complete ? kExitDone : kExitIncomplete;
  }

 private:
  arms::RosterOptions roster_options() const {
    arms::RosterOptions roster = app::roster_options(stage_, machine_.threads);
    roster.plugins = options_.plugins;
    roster.where = options_.where;
    roster.patience = patience_of(options_.patience_seconds);
    return roster;
  }

  nlohmann::json header() const {
    nlohmann::json json =
        line_header(report::kProofSchema, options_.command,
                    accelerator_ ? device::summary(*accelerator_) : device::summary(machine_));
    json["seed"] = seed_;
    return json;
  }

  // Takes the digest of a model's weights. Throws where an arm cannot be given them as they are.
  prove::MatrixPlan plan_of(Case& one) const {
    prove::MatrixPlan plan{one.problem, options_.rows, classes_of(options_), seed_};
    if (!one.matrix) return plan;
    plan.model = std::make_shared<const load::StoredMatrix>(one.matrix->source);
    load::require_exact(*plan.model, one.problem.weights);
    one.matrix->origin.digest = plan.model->digest();
    return plan;
  }

  // One matrix that cannot be had is no reason to leave the others out.
  bool prove_model_case(Case& one) {
    try {
      return prove_case(one);
    } catch (const Error& error) {
      print(fmt::format("{} {}, not proved: {}\n\n", report::printable(one.matrix->origin.model),
                        report::printable(one.matrix->origin.matrix),
                        report::printable(error.what())));
      return false;
    }
  }

  // False where something failed, or was not proved that was asked for.
  bool prove_case(Case& one) {
    const tare_problem& problem = one.problem;
    Prover prover({machine_, accelerator_, stage_, patience_of(options_.patience_seconds)},
                  plan_of(one));
    const std::vector<const arms::RosterArm*> arms = arms_for(prover);
    const arms::RosterArm* incumbent = incumbent_for(prover, arms);
    std::vector<prove::Certificate> found;
    Progress progress(arms.size(), progress_on_stderr());
    for (const arms::RosterArm* arm : arms) {
      progress.row(fmt::format("{} {}x{}", arm->description.name, problem.k, problem.n));
      progress.step("proving");
      // Nothing is proved by a comparison with itself (TRAPS C6).
      found.push_back(prover.prove(*arm, arm == incumbent ? nullptr : incumbent));
      if (one.matrix) found.back().model = one.matrix->origin;
      progress.row_done();
      progress.clear();
      keep(found.back());
      if (options_.all && found.size() == 1) print(report::proof_table_head(found[0], style_));
      print(options_.all ? report::proof_table_row(found.back(), style_)
                         : report::proof_page(found.back(), style_) + "\n");
    }
    if (options_.all) print(report::proof_table_foot(found, style_) + "\n");
    return std::ranges::all_of(found, [&](const prove::Certificate& certificate) {
      const bool wanted =
          options_.equality.empty() || equalities().at(options_.equality)(certificate);
      return certificate.failure.empty() && wanted;
    });
  }

  // With --all every one that computes the problem, or those that were named; else the candidate.
  std::vector<const arms::RosterArm*> arms_for(const Prover& prover) const {
    std::vector<const arms::RosterArm*> arms;
    std::string why = "no implementation was found";
    for (const arms::RosterArm& arm : roster_.arms()) {
      if (arm.part == arms::Part::kLimit || !is_asked_for(arm)) continue;
      if (const auto refusal = prover.refusal(arm))
        why = fmt::format("{}: {}", arm.description.name, *refusal);
      else
        arms.push_back(&arm);
    }
    if (arms.empty()) fail(Blame::kArm, "Nothing to prove: {}.", report::printable(why));
    if (!options_.all) arms.erase(arms.begin() + 1, arms.end());
    return arms;
  }

  bool is_asked_for(const arms::RosterArm& arm) const {
    if (!options_.candidates.empty())
      return std::ranges::count(options_.candidates, arm.description.name) > 0;
    if (options_.all) return true;
    if (!options_.plugins.empty()) return arm.plugin;
    return arm.part == arms::Part::kCandidate;
  }

  // The one that was named, or the first that computes the problem and is not all that is proved.
  const arms::RosterArm* incumbent_for(const Prover& prover,
                                       const std::vector<const arms::RosterArm*>& arms) const {
    for (const arms::RosterArm& arm : roster_.arms()) {
      const bool wanted = options_.incumbent.empty() ? arm.part == arms::Part::kIncumbent
                                                     : arm.description.name == options_.incumbent;
      const bool itself = arms.size() == 1 && arms.front() == &arm;
      if (wanted && !itself && !prover.refusal(arm)) return &arm;
    }
    if (!options_.incumbent.empty())
      fail(Blame::kInput, "--incumbent {}: no implementation of that name computes this here.",
           report::printable(options_.incumbent));
    return nullptr;
  }

  void keep(const prove::Certificate& certificate) {
    if (!file_) return;
    nlohmann::json line = prove::to_json(certificate);
    line["kind"] = "certificate";
    file_->write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  static void print(const std::string& lines) {
    fmt::print("{}", lines);
    std::fflush(stdout);
  }

  const ProveOptions& options_;
  device::Machine machine_;
  std::optional<device::Accelerator> accelerator_;
  std::vector<Case> cases_;
  weigh::Stage stage_;
  arms::Roster roster_;
  std::uint64_t seed_;
  report::TableStyle style_{colours_on_stdout(), false};
  std::unique_ptr<report::LineFile> file_;
};

// The table of files that were written before: certificates of one problem follow each other.
int print_again(const std::vector<std::string>& paths) {
  const report::TableStyle style{colours_on_stdout(), false};
  std::vector<prove::Certificate> all;
  for (const std::string& path : paths)
    for (prove::Certificate& one : report::read_proofs(path)) all.push_back(std::move(one));
  for (auto first = all.begin(); first != all.end();) {
    const auto next = std::find_if_not(first, all.end(), [&](const prove::Certificate& one) {
      return alike(one.problem, first->problem);
    });
    fmt::print("{}", report::proof_table_head(*first, style));
    for (auto one = first; one != next; ++one)
      fmt::print("{}", report::proof_table_row(*one, style));
    fmt::print("{}\n", report::proof_table_foot({first, next}, style));
    first = next;
  }
  return kExitDone;
}

ProveOptions completed(ProveOptions options) {
  if (options.rows.empty()) {
    options.rows.resize(kMostRowsByDefault);
    std::iota(options.rows.begin(), options.rows.end(), 1U);
  }
  std::ranges::sort(options.rows);
  options.rows.erase(std::unique(options.rows.begin(), options.rows.end()), options.rows.end());
  return options;
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const formats::WeightFormat& format : formats::weight_formats())
    names.push_back(format.name);
  return names;
}

void check(const ProveOptions& options) {
  for (const std::string& name : options.weights)
    if (formats::find_format(name) == nullptr)
      fail(Blame::kInput, "--weights {}: must be one of {}.", report::printable(name),
           fmt::join(format_names(), ", "));
  if (takes_model_weights(options) && options.models.empty())
    fail(Blame::kInput, "--data model takes the weights of a file: give it as --model.");
  if (takes_model_weights(options) && !options.shapes.empty())
    fail(Blame::kInput, "--data model takes the weights of a file: leave --shape out.");
  if (options.layer && !takes_model_weights(options))
    fail(Blame::kInput, "--layer {}: only with --data model.", *options.layer);
  for (const std::uint32_t rows : options.rows)
    if (rows < 1 || rows > problem::kMostRows)
      fail(Blame::kInput, "--rows {}: from 1 to {}.", rows, problem::kMostRows);
  if (!options.all && options.candidates.size() > 1)
    fail(Blame::kInput, "--candidate {}: of several a table is made: give --all, too.",
         report::printable(fmt::format("{}", fmt::join(options.candidates, ","))));
}

}  // namespace

CLI::App* add_prove(CLI::App& app, ProveOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "prove", "Is it safe to swap? What an implementation's bits depend on, and its error");
  verb->add_option("--model", options.models,
                   "config.json, .safetensors (or its index) or .gguf; may be given again")
      ->allow_extra_args(false);
  verb->add_option("--shape", options.shapes,
                   "k x n, e.g. 4096x1024; may be given again; default: whole tiles, primes, tails")
      ->allow_extra_args(false);
  verb->add_option("--projections", options.projections, "only these of the models")
      ->delimiter(',');
  verb->add_option("--weights", options.weights, "types of weights, e.g. bf16,q4_k")
      ->delimiter(',');
  verb->add_option(
          "--data", options.data,
          "classes of data, e.g. real,cancelling; model: the weights of the --model files\n"
          "themselves; default: all but model")
      ->delimiter(',')
      ->check(CLI::IsMember(
          {"normal", "real", "one-hot", "cancelling", "integers", "subnormal", "model"}));
  verb->add_option("--layer", options.layer,
                   "of --data model; default: the first with a matrix of each kind");
  verb->add_option("--activations", options.activations,
                   "bf16, bf16-as-int8, or f32 (with f32 outputs)")
      ->check(CLI::IsMember({"bf16", "bf16-as-int8", "f32"}));
  verb->add_flag("--bias", options.bias,
                 "with the biases that a model has (q, k and v of Qwen2.5); a --shape has one");
  verb->add_option("--rows", options.rows, "row counts, e.g. 1,8,32; default: 1 to 32")
      ->delimiter(',');
  verb->add_option("--arm", options.plugins,
                   "your own kernel: a shared library with tare/arm.h's ABI")
      ->allow_extra_args(false);
  verb->add_option(
          "--candidate", options.candidates,
          "what to prove, by name, several with --all; default: your --arm, else Tare's own "
          "kernel")
      ->delimiter(',');
  verb->add_option("--incumbent", options.incumbent,
                   "what to compare it with, by name; default: the first library found");
  verb->add_option("--equality", options.equality,
                   "demand it: incumbent, one-row, self or bounded; exit 1 where it does not hold")
      ->check(CLI::IsMember({"incumbent", "one-row", "self", "bounded"}));
  verb->add_flag("--all", options.all,
                 "every implementation that is found, as a table; or those of --candidate");
  verb->add_option("--device", options.where, "where arms run: the processor, or the first GPU")
      ->transform(device_words());
  verb->add_option("--threads", options.threads, "processors an arm may use (default: all)");
  verb->add_option("--patience", options.patience_seconds,
                   "an arm that gives no answer for so many seconds hangs")
      ->capture_default_str();
  verb->add_option("--seed", options.seed, "of the data; default: drawn, and recorded");
  verb->add_option("--json", options.json_path,
                   "write the certificates to this file (docs/certificates.md)");
  verb->add_option("--read", options.read_paths,
                   "print the table of such files again, and prove nothing; may be given again")
      ->allow_extra_args(false);
  verb->footer(
      "Examples:\n"
      "  tare prove                                        Tare's own kernel against oneDNN\n"
      "  tare prove --all                                  who is batch-invariant here?\n"
      "  tare prove --shape 4096x1024 --arm ./libmine.so --equality self\n"
      "  tare prove --device cuda --all                    the same on the first GPU\n"
      "  tare prove --candidate ggml --incumbent onednn --rows 1,2,3\n"
      "  tare prove --model model.gguf --data model --projections q,down\n"
      "  tare prove --all --weights f16,f32 --json proofs.jsonl\n"
      "  tare prove --read proofs.jsonl                    that table again\n"
      "Exit codes: 0 proved, whatever was found; 1 an arm failed, or what --equality demands does\n"
      "not hold; 2 bad usage or input; 130 interrupted.");
  return verb;
}

int prove(const ProveOptions& options) {
  if (!options.read_paths.empty()) return print_again(options.read_paths);
  const ProveOptions whole = completed(options);
  check(whole);
  watch_for_interrupts();
  return Run(whole).run();
}

}  // namespace tare::app
