#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>

#include "base/interrupt.h"
#include "clock.h"
#include "model_setting.h"
#include "model_verbs.h"
#include "program.h"
#include "progress.h"
#include "report/columns.h"
#include "report/results.h"
#include "serve/kernel_sum.h"
#include "serve/token_weighing.h"
#include "terminal.h"

namespace tare::app {
namespace {

using weigh::Role;

// A decode goes on with an answer that has begun; a prompt begins with nothing.
constexpr std::uint64_t kBeforeDecode = 16;

double seconds_of(const judge::Judgement& judgement, Role role) {
  const auto fit = judgement.fits.find(role);
  return fit == judgement.fits.end() ? 0 : fit->second.per_dispatch;
}

double rate(double rows, double seconds) {
  return seconds > 0 ? rows / seconds : 0;
}

// The token's win beside what its kernels were weighed to win, and what they win inside the engine:
// there ggml reads a mapped file, on small pages. What neither says is outside the kernels.
void explain(const serve::KernelSum& kernels, const std::string& engine, double before,
             double after) {
  const double saved = before - after;
  const auto line = [](const char* what, double incumbent, double candidate) {
    fmt::print("    {:<34}  {:>9.3f}  {:>9.3f}  {:>9.3f}\n", what, 1e3 * incumbent, 1e3 * candidate,
               1e3 * (incumbent - candidate));
  };
  fmt::print("    {} of {} products are served; ms a batch   without       with      saved\n",
             kernels.served, kernels.matrices);
  line("their kernels, as weighed", kernels.incumbent_seconds, kernels.candidate_seconds);
  line(("their kernels, inside " + engine).c_str(), kernels.engine_seconds, kernels.served_seconds);
  line("the whole batch", before, after);
  fmt::print(
      "    The batch saves {:+.3f} ms more than its kernels do inside {}: hand-overs, and what the "
      "served kernels leave in the caches for the others. Inside, they save {:+.3f} ms more than "
      "as "
      "weighed: its own take {:+.3f} ms more there, Tare's {:+.3f} ms.\n",
      1e3 * (saved - kernels.saved_inside()), engine,
      1e3 * (kernels.saved_inside() - kernels.saved_seconds()),
      1e3 * (kernels.engine_seconds - kernels.incumbent_seconds),
      1e3 * (kernels.served_seconds - kernels.candidate_seconds));
}

report::Header header_of(const WeighModelOptions& options, const plan::Plan& plan,
                         std::uint64_t seed) {
  report::Header header;
  header.tare_version = TARE_VERSION;
  header.date = now_utc();
  header.command = options.model.command;
  header.machine = device::inspect();
  header.machine.threads = plan.keys.threads;
  header.residency = weigh::Residency::kHot;
  header.rules = serve::token_rules();
  header.seed = seed;
  return header;
}

class WeighingModel {
 public:
  explicit WeighingModel(const WeighModelOptions& options)
      : options_(options),
        setting_(model_setting(options.model)),
        seed_(options.seed != 0 ? options.seed : std::random_device{}()),
        progress_(options.rows.size() + options.prompt.size(), progress_on_stderr()) {
    if (!options.model.json_path.empty())
      writer_ = std::make_unique<report::ResultsWriter>(options.model.json_path,
                                                        header_of(options, setting_.plan, seed_));
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    fmt::print("{:<8}  {:>5}  {:>12}  {:>12}  {:>7}  {:<14}  {:<10}  {}\n", "what", "rows",
               "tokens/s", "with plan", "ratio", "95 % interval", "control", "verdict");
    report::Footer footer;
    try {
      weigh_all();
    } catch (const Interrupted&) {
      progress_.clear();
      footer.interrupted = true;
    }
    footer.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (writer_) writer_->finish(footer);
    if (footer.interrupted) return kExitInterrupted;
    return refused_ ? kExitIncomplete : kExitDone;
  }

 private:
  void weigh_all() {
    for (const std::uint32_t rows : options_.rows) weigh_one("decode", {.rows = rows});
    for (const std::uint32_t rows : options_.prompt)
      weigh_one("prompt", {.rows = rows, .anew = true});
  }

  void weigh_one(const char* name, const serve::Stretch& dispatch) {
    const serve::TokenSetting setting = setting_of(dispatch);
    progress_.row(fmt::format("{} {}", name, dispatch.rows));
    report::Row row;
    row.model = std::filesystem::path(options_.model.model).stem().string();
    row.projection = name;
    serve::TokenWeighing weighed = serve::weigh_tokens(
        setting, [&](const std::string& what) { progress_.step(what.c_str()); });
    row.weighing = std::move(weighed.weighing);
    row.judgement = judge::judge(row.weighing, serve::token_rules());
    const serve::KernelSum kernels =
        serve::kernel_sum(setting_.plan, weighed.without, weighed.with, setting.profiled_batches);
    progress_.row_done();
    progress_.clear();
    if (writer_) writer_->write(row);
    print(row, kernels);
  }

  serve::TokenSetting setting_of(const serve::Stretch& dispatch) const {
    serve::TokenSetting setting;
    setting.host = setting_.host;
    setting.dispatch = dispatch;
    setting.before = dispatch.anew ? 0 : kBeforeDecode;
    setting.round_batches = dispatch.anew ? 1 : options_.tokens;
    setting.seconds = options_.seconds;
    setting.seed = seed_ + dispatch.rows;
    setting.host.sequences = dispatch.anew ? 1 : static_cast<std::uint32_t>(dispatch.rows);
    setting.host.context =
        std::max(setting.host.context, setting.host.sequences * most_tokens_of_sequence());
    return setting;
  }

  // What it is filled with, and those of a long region.
  std::uint32_t most_tokens_of_sequence() const {
    return static_cast<std::uint32_t>(kBeforeDecode + (serve::kLongRounds + 1) * options_.tokens);
  }

  void print(const report::Row& row, const serve::KernelSum& kernels) {
    const judge::Judgement& judgement = row.judgement;
    const std::uint32_t rows = row.weighing.problem.rows;
    const double before = seconds_of(judgement, Role::kIncumbent);
    const double after = seconds_of(judgement, Role::kCandidate);
    fmt::print("{:<8}  {:>5}  {:>12.1f}  {:>12.1f}  {:>6.3f}x  {:<14}  {:<10.3f}  {}\n",
               row.projection, rows, rate(rows, before), rate(rows, after), judgement.ratio,
               report::interval_text(judgement.interval), judgement.control_ratio,
               report::verdict_cell(judgement).text);
    if (judgement.verdict == judge::Verdict::kRefused) {
      refused_ = true;
      fmt::print("    {}\n", judgement.cause_sentence);
    }
    explain(kernels, setting_.host.engine, before, after);
    std::fflush(stdout);
  }

  const WeighModelOptions& options_;
  ModelSetting setting_;
  std::uint64_t seed_;
  Progress progress_;
  std::unique_ptr<report::ResultsWriter> writer_;  // null: no record
  bool refused_ = false;
};

}  // namespace

CLI::App* add_weigh_model(CLI::App& app, WeighModelOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "weigh-model",
      "Weigh a whole model's tokens per second in llama.cpp or MLX, with a plan and without");
  add_model_options(verb, options.model);
  verb->add_option("--rows", options.rows,
                   "sequences that are decoded side by side, e.g. 1,4,8; 0: no decode")
      ->delimiter(',')
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  verb->add_option("--prompt", options.prompt,
                   "tokens of the prompts that are weighed, e.g. 32,256; 0: none")
      ->delimiter(',')
      ->check(CLI::Range(0, 512))
      ->capture_default_str();
  verb->add_option("--tokens", options.tokens,
                   "of each sequence in a timed stretch of decoding, and four times as many in the "
                   "long ones; more where stretches differ much")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--seconds", options.seconds,
                   "stop weighing a line after this long, in each of two sets of processes")
      ->capture_default_str();
  verb->add_option("--seed", options.seed, "of the order; default: drawn");
  verb->footer(
      "Examples:\n"
      "  tare weigh-model model.gguf --plan plan.json\n"
      "  tare weigh-model model.gguf --plan plan.json --rows 1,8 --prompt 0 --seconds 60\n"
      "  tare weigh-model model.gguf --plan plan.json --json run.jsonl && tare replay run.jsonl\n"
      "Exit codes: 0 weighed, whatever came of it; 1 refused, or an engine failed; 2 bad usage or "
      "input; 130 interrupted.");
  return verb;
}

int weigh_model(const WeighModelOptions& options) {
  watch_for_interrupts();
  WeighModelOptions asked = options;
  std::erase(asked.rows, 0);
  std::erase(asked.prompt, 0);
  return WeighingModel(asked).run();
}

}  // namespace tare::app
