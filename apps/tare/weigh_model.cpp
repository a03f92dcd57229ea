#include <fmt/format.h>

#include <random>

#include "base/error.h"
#include "base/interrupt.h"
#include "model_setting.h"
#include "model_verbs.h"
#include "problem/problem.h"
#include "program.h"
#include "progress.h"
#include "report/columns.h"
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

// The token's win beside what its kernels were weighed to win. Between the two lie the hand-overs
// from one back end to the other, and that a kernel in the engine is not the kernel as it was
// weighed: ggml reads a mapped file there, on small pages.
void explain(const serve::KernelSum& kernels, double before, double after) {
  const double saved = before - after;
  fmt::print(
      "    {} of {} matrices are served. Their kernels alone were weighed at {:.3f} ms for ggml's "
      "and "
      "{:.3f} ms for Tare's: {:.3f} ms less. All of it takes {:.3f} ms and {:.3f} ms: {:.3f} ms "
      "less. The difference, {:+.3f} ms, is hand-overs between the back ends (they cost), and "
      "ggml's "
      "kernels being slower or faster here than as weighed (its weights lie in a mapped file).\n",
      kernels.served, kernels.matrices, 1e3 * kernels.incumbent_seconds,
      1e3 * kernels.candidate_seconds, 1e3 * kernels.saved_seconds(), 1e3 * before, 1e3 * after,
      1e3 * saved, 1e3 * (saved - kernels.saved_seconds()));
}

class WeighingModel {
 public:
  explicit WeighingModel(const WeighModelOptions& options)
      : options_(options),
        setting_(model_setting(options.model)),
        model_(problem::read_model(options.model.model)),
        seed_(options.seed != 0 ? options.seed : std::random_device{}()),
        progress_(options.prompt == 0 ? 1 : 2, progress_on_stderr()) {}

  int run() {
    fmt::print("{:<8}  {:>5}  {:>12}  {:>12}  {:>7}  {:<14}  {:<10}  {}\n", "what", "rows",
               "tokens/s", "with plan", "ratio", "95 % interval", "control", "verdict");
    weigh_one("decode", {.rows = 1, .anew = false}, kBeforeDecode);
    if (options_.prompt > 0) weigh_one("prompt", {.rows = options_.prompt, .anew = true}, 0);
    return refused_ ? kExitIncomplete : kExitDone;
  }

 private:
  void weigh_one(const char* name, const serve::Stretch& dispatch, std::uint64_t before) {
    const auto rows = static_cast<std::uint32_t>(dispatch.rows);
    serve::TokenSetting setting;
    setting.host = setting_.host;
    setting.dispatch = dispatch;
    setting.before = before;
    setting.round_batches = dispatch.anew ? 1 : 8;
    setting.long_batches = 4 * setting.round_batches;
    setting.seconds = options_.seconds;
    setting.seed = seed_ + rows;
    progress_.row(name);
    const auto weighing = serve::weigh_tokens(
        setting, [&](const std::string& what) { progress_.step(what.c_str()); });
    progress_.row_done();
    progress_.clear();
    print(name, rows, judge::judge(weighing, serve::token_rules()));
  }

  void print(const char* name, std::uint32_t rows, const judge::Judgement& judgement) {
    const double before = seconds_of(judgement, Role::kIncumbent);
    const double after = seconds_of(judgement, Role::kCandidate);
    fmt::print("{:<8}  {:>5}  {:>12.1f}  {:>12.1f}  {:>6.3f}x  {:<14}  {:<10.3f}  {}\n", name, rows,
               rate(rows, before), rate(rows, after), judgement.ratio,
               report::interval_text(judgement.interval), judgement.control_ratio,
               report::verdict_cell(judgement).text);
    if (judgement.verdict == judge::Verdict::kRefused) {
      refused_ = true;
      fmt::print("    {}\n", judgement.cause_sentence);
    }
    explain(serve::kernel_sum(setting_.plan, model_, rows), before, after);
    std::fflush(stdout);
  }

  const WeighModelOptions& options_;
  ModelSetting setting_;
  problem::Model model_;
  std::uint64_t seed_;
  Progress progress_;
  bool refused_ = false;
};

}  // namespace

CLI::App* add_weigh_model(CLI::App& app, WeighModelOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "weigh-model",
      "Weigh a whole model's tokens per second in llama.cpp, with a plan and without");
  add_model_options(verb, options.model);
  verb->add_option("--prompt", options.prompt, "tokens of the prompts that are weighed; 0: none")
      ->check(CLI::Range(0, 512))
      ->capture_default_str();
  verb->add_option("--seconds", options.seconds,
                   "stop weighing after this long, in each of two sets of processes")
      ->capture_default_str();
  verb->add_option("--seed", options.seed, "of the order; default: drawn");
  verb->footer(
      "Examples:\n"
      "  tare weigh-model model.gguf --plan plan.json\n"
      "  tare weigh-model model.gguf --plan plan.json --prompt 0 --seconds 60\n"
      "Exit codes: 0 weighed, whatever came of it; 1 refused, or an engine failed; 2 bad usage or "
      "input; 130 interrupted.");
  return verb;
}

int weigh_model(const WeighModelOptions& options) {
  watch_for_interrupts();
  return WeighingModel(options).run();
}

}  // namespace tare::app
