#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "clock.h"
#include "device/machine.h"
#include "formats/weight_format.h"
#include "model_setting.h"
#include "model_verbs.h"
#include "program.h"
#include "progress.h"
#include "report/line_file.h"
#include "report/text.h"
#include "serve/kernel_sum.h"
#include "serve/logits.h"
#include "terminal.h"

namespace tare::app {
namespace {

using serve::LogitDifference;
using serve::ModelHost;
using serve::Token;

// Prose, code, numbers and another language: short enough that all logits of all tokens are
// compared.
const std::vector<std::string>& built_in_prompts() {
  static const std::vector<std::string> prompts{
      "The capital of France is Paris, and the capital of Italy is",
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
      "In the beginning the harness was without form, and noise was upon the face of the samples. "
      "And the engineer said, let there be a control; and there was a control.",
      "def fibonacci(n):\n    if n < 2:\n        return n\n    return fibonacci(n - 1) +",
      "3.14159 26535 89793 23846 26433 83279 50288 41971 69399 37510 58209",
      "Der Unterschied zwischen Messen und Wiegen besteht darin, dass man beim Wiegen",
      "Water boils at one hundred degrees Celsius at sea level. At the top of a mountain it boils "
      "at a lower temperature, because the pressure of the air is",
      // Longer than 64 tokens: row counts of several dozen are whole batches of it.
      "Dear editor, your balance was set up on the third floor, beside the lift. Whenever the lift "
      "went up, the sugar weighed more, and whenever it came down, the salt weighed less. We have "
      "moved the balance to the cellar, weighed the same stone twice with every sugar, and thrown "
      "away each morning on which the two stones did not agree. What is left of last year's table "
      "is printed below; of the forty differences that were published, three are still there, and"};
  return prompts;
}

std::vector<std::string> prompts_of(const std::string& path) {
  if (path.empty()) return built_in_prompts();
  std::ifstream file(path);
  std::vector<std::string> prompts;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) prompts.push_back(line);
  if (prompts.empty()) fail(Blame::kInput, "'{}': there is no prompt in it, one a line.", path);
  return prompts;
}

// A prompt evaluated so many tokens at a time.
struct Case {
  std::vector<Token> tokens;
  std::uint64_t rows = 1;
};

void print_head() {
  fmt::print("{:>6}  {:>6}  {:>12}  {:>12}  {:>14}  {:>10}  {:>10}  {:>10}  {}\n", "tokens", "rows",
             "logits", "differing", "max difference", "max ulp", "KL mean", "KL max",
             "likeliest changed");
}

void print_line(const std::string& rows, const LogitDifference& d) {
  fmt::print("{:>6}  {:>6}  {:>12}  {:>12}  {:>14.6g}  {:>10}  {:>10.3g}  {:>10.3g}  {}\n",
             d.tokens, rows, d.elements, d.differing, d.max_absolute, d.max_ulp, d.kl_mean(),
             d.kl_max, d.top_changes);
  std::fflush(stdout);
}

using Json = nlohmann::ordered_json;

Json json_of(const LogitDifference& d) {
  return {{"tokens", d.tokens},
          {"logits", d.elements},
          {"differing", d.differing},
          {"class_mismatch", d.class_mismatch},
          {"max_absolute", d.max_absolute},
          {"max_ulp", d.max_ulp},
          {"kl_mean", d.kl_mean()},
          {"kl_max", d.kl_max},
          {"likeliest_changed", d.top_changes}};
}

// What docs/results-schema.md describes.
Json new_record(const VerifyModelOptions& options, const plan::Plan& plan) {
  const device::Machine machine = device::inspect();
  Json decisions = Json::array();
  for (const plan::Decision& decision : plan.decisions)
    if (decision.decision == judge::Decision::kServe)
      decisions.push_back({{"weights", formats::type_name(decision.problem.weights)},
                           {"k", decision.problem.k},
                           {"n", decision.problem.n},
                           {"rows", decision.problem.rows},
                           {"equality", judge::to_string(decision.equality)},
                           {"candidate", decision.candidate.arm}});
  return {{"schema", "tare.verify-model/1"},
          {"tare_version", TARE_VERSION},
          {"date", now_utc()},
          {"command", options.model.command},
          {"processor", machine.processor},
          {"threads", plan.keys.threads},
          {"model", std::filesystem::path(options.model.model).filename().string()},
          {"serves", std::move(decisions)},
          {"evaluations", Json::array()},
          {"first_difference", nullptr},
          {"verdict", ""}};
}

class Verifying {
 public:
  explicit Verifying(const VerifyModelOptions& options)
      : options_(options),
        setting_(model_setting(options.model)),
        plain_(without_plan(setting_.host)),
        served_(setting_.host),
        vocabulary_(plain_.vocabulary()),
        record_(new_record(options, setting_.plan)),
        progress_(options.rows.size() + 1, progress_on_stderr()) {
    if (!options.reference.empty()) open_reference();
    for (const std::string& text : prompts_of(options.prompts))
      prompts_.push_back(plain_.tokens(text));
    if (!options.model.json_path.empty())
      file_ = std::make_unique<report::LineFile>(options.model.json_path);
  }

  int run() {
    try {
      print_head();
      for (const std::uint32_t rows : options_.rows) compare(rows);
      compare(0);
      if (differs_) bisect(*differs_);
    } catch (const Interrupted&) {
      keep("Interrupted before all was compared.");
      throw;
    } catch (const Error& error) {
      keep(report::valid_utf8(error.what()));
      throw;
    }
    const Conclusion conclusion = conclude();
    fmt::print("{}\n", conclusion.sentence);
    keep(conclusion.sentence);
    return conclusion.exit_code;
  }

 private:
  void open_reference() {
    serve::ModelHostOptions exact = without_plan(setting_.host);
    exact.model = options_.reference;
    reference_ = std::make_unique<ModelHost>(exact);
    if (reference_->vocabulary() != vocabulary_)
      fail(Blame::kInput, "'{}' has another vocabulary than the model.", options_.reference);
  }

  void keep(const std::string& verdict) {
    progress_.clear();
    record_["verdict"] = verdict;
    if (file_) file_->write(record_.dump(1));
  }

  static serve::ModelHostOptions without_plan(serve::ModelHostOptions host) {
    host.plan.clear();
    return host;
  }

  // All prompts; `rows` 0: each whole.
  void compare(std::uint64_t rows) {
    const std::string name = rows == 0 ? "whole" : std::to_string(rows);
    LogitDifference sum, plain_error, served_error;
    progress_.row(fmt::format("{} rows", name));
    progress_.step("comparing");
    for (const std::vector<Token>& tokens : prompts_) {
      if (interrupt_requested()) throw Interrupted();
      const Case one{tokens, rows == 0 ? tokens.size() : rows};
      const std::uint64_t before = sum.differing;
      const auto plain = plain_.logits(one.tokens, one.rows);
      const auto served = served_.logits(one.tokens, one.rows);
      serve::add(sum, plain, served, vocabulary_);
      if (reference_) {
        const auto exact = reference_->logits(one.tokens, one.rows);
        serve::add(plain_error, exact, plain, vocabulary_);
        serve::add(served_error, exact, served, vocabulary_);
      }
      if (sum.differing > before && !differs_) differs_ = one;
    }
    progress_.row_done();
    progress_.clear();
    print_line(name, sum);
    Json evaluation = json_of(sum);
    evaluation["rows"] = rows == 0 ? Json("whole") : Json(rows);
    if (reference_) {
      evaluation["from_reference_without"] = json_of(plain_error);
      evaluation["from_reference_with"] = json_of(served_error);
    }
    record_["evaluations"].push_back(std::move(evaluation));
    broken_ = broken_ || sum.class_mismatch > 0;
    if (reference_) print_errors(plain_error, served_error);
  }

  static void print_errors(const LogitDifference& plain, const LogitDifference& served) {
    fmt::print(
        "        from the reference: KL mean {:.4g} without the plan and {:.4g} with it, KL max "
        "{:.3g} "
        "and {:.3g}, likeliest changed {} and {}\n",
        plain.kl_mean(), served.kl_mean(), plain.kl_max, served.kl_max, plain.top_changes,
        served.top_changes);
    std::fflush(stdout);
  }

  // The first projection whose output differs: all that come later may differ because it does.
  void bisect(const Case& one) {
    const auto plain = plain_.trace(one.tokens, one.rows);
    const auto served = served_.trace(one.tokens, one.rows);
    for (std::size_t i = 0; i < std::min(plain.size(), served.size()); ++i) {
      if (plain[i].digest == served[i].digest) continue;
      if (const plan::Decision* decision = serve::serving(setting_.plan, plain[i]))
        first_ = decision->equality;
      LogitDifference difference;
      const auto before = plain_.output(one.tokens, one.rows, i);
      serve::add(difference, before, served_.output(one.tokens, one.rows, i), before.size());
      fmt::print(
          "The first projection that differs is {} ({}x{}), the {} of {}: {} of {} outputs, by "
          "{:.3g} "
          "at most ({} ulp, the low {} bits). Those before it are equal.\n",
          report::printable(plain[i].weights), plain[i].k, plain[i].n, ordinal(i + 1), plain.size(),
          difference.differing, difference.elements, difference.max_absolute, difference.max_ulp,
          serve::bits_of(difference.max_ulp));
      record_["first_difference"] = {{"weights", plain[i].weights},
                                     {"product", i + 1},
                                     {"of", plain.size()},
                                     {"outputs", difference.elements},
                                     {"differing", difference.differing},
                                     {"max_absolute", difference.max_absolute},
                                     {"max_ulp", difference.max_ulp}};
      return;
    }
    fmt::print("All projections are equal: the difference arises outside of them.\n");
  }

  static std::string ordinal(std::size_t number) {
    const std::size_t last = number % 100 / 10 == 1 ? 0 : number % 10;
    return fmt::format("{}{}", number,
                       last == 1   ? "st"
                       : last == 2 ? "nd"
                       : last == 3 ? "rd"
                                   : "th");
  }

  struct Conclusion {
    const char* sentence;
    int exit_code;
  };
  Conclusion conclude() const {
    if (broken_)
      return {"Logits are NaN or infinite on one side only: do not serve this plan.",
              kExitIncomplete};
    if (!differs_) return {"All logits have the same bits.", kExitDone};
    if (!first_)
      return {"What differs first is not served by the plan: do not serve it.", kExitIncomplete};
    if (*first_ == judge::Equality::kBounded || *first_ == judge::Equality::kSelf)
      return {"What differs first is served at an equality that accepts other bits.", kExitDone};
    return {"The plan promises the incumbent's bits, and they differ: do not serve it.",
            kExitIncomplete};
  }

  const VerifyModelOptions& options_;
  ModelSetting setting_;
  ModelHost plain_, served_;
  std::uint64_t vocabulary_;
  std::unique_ptr<ModelHost> reference_;
  Json record_;
  std::optional<Case> differs_;           // the first that did
  std::optional<judge::Equality> first_;  // of the first projection that did, if it is served
  bool broken_ = false;
  std::vector<std::vector<Token>> prompts_;
  std::unique_ptr<report::LineFile> file_;
  Progress progress_;
};

}  // namespace

CLI::App* add_verify_model(CLI::App& app, VerifyModelOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "verify-model",
      "Compare a whole model's logits in llama.cpp or MLX, with a plan and without");
  add_model_options(verb, options.model);
  verb->add_option("--rows", options.rows,
                   "tokens evaluated together; each prompt whole comes on top")
      ->delimiter(',')
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  verb->add_option("--prompts", options.prompts, "a file, one prompt a line; default: built in");
  verb->add_option("--reference", options.reference,
                   "the same model in a more exact file: tells how far either is from it");
  verb->footer(
      "Examples:\n"
      "  tare verify-model model.gguf --plan plan.json\n"
      "  tare verify-model model.gguf --plan plan.json --rows 1,2,4 --prompts mine.txt --json "
      "verified.json\n"
      "Exit codes: 0 as equal as the plan promises; 1 not so, or an engine failed; 2 bad usage or "
      "input.");
  return verb;
}

int verify_model(const VerifyModelOptions& options) {
  watch_for_interrupts();
  return Verifying(options).run();
}

}  // namespace tare::app
