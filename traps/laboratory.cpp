#include "traps/laboratory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "arms/roster.h"
#include "base/error.h"

namespace tare::traps {
namespace {

namespace fs = std::filesystem;

// A folder that goes with its contents.
class Scratch {
 public:
  Scratch() : path_((fs::temp_directory_path() / "tare-trap-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      fail(Blame::kMachine, "No folder for a trap's results: {}: {}.", path_, std::strerror(errno));
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> environment_with(const Environment& added) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    merged[text.substr(0, text.find('='))] = text;
  }
  for (const auto& [name, value] : added) merged[name] = fmt::format("{}={}", name, value);
  std::vector<std::string> environment;
  environment.reserve(merged.size());
  for (auto& [name, text] : merged) environment.push_back(text);
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// The child's exit code.
int run_program(std::vector<std::string> command, std::vector<std::string> environment,
                const std::string& stderr_path) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, stderr_path.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = -1;
  const int failed = posix_spawn(&child, command.front().c_str(), &files, nullptr,
                                 pointers(command).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    fail(Blame::kMachine, "Cannot start {}: {}.", command.front(), std::strerror(failed));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Options of a quick row, each with its value; `more` takes the place of the same option, or is
// added.
std::vector<std::string> row_arguments(const char* residency,
                                       const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "--shape",           "1536x256", "--rows",      "1",      "--threads", "1",
      "--incumbent",       "onednn",   "--ring",      "1e8",    "--traffic", "2e8",
      "--seconds-per-row", "0.4",      "--residency", residency};
  for (std::size_t i = 0; i + 1 < more.size(); i += 2) {
    const auto option = std::ranges::find(arguments, more[i]);
    if (option != arguments.end())
      *(option + 1) = more[i + 1];
    else
      arguments.insert(arguments.end(), {more[i], more[i + 1]});
  }
  return arguments;
}

std::string interval_text(const judge::Interval& interval) {
  return fmt::format("[{:.3f}, {:.3f}]", interval.low, interval.high);
}

const judge::Finding* failed_finding(const report::Row& row, const std::string& gate) {
  for (const judge::Finding& finding : row.judgement.gates)
    if (!finding.passed && finding.gate == gate) return &finding;
  return nullptr;
}

bool set_aside_by(const report::Row& row, const std::string& gate) {
  return std::ranges::any_of(row.weighing.placements,
                             [&](const weigh::Placement& p) { return p.set_aside == gate; });
}

bool is_refused(const report::Row& row) {
  return row.judgement.verdict == judge::Verdict::kRefused;
}

Outcome outcome_of(const report::Row& row, std::string naive) {
  return {std::move(naive), words_of(row), "", row.judgement.cause_sentence, false};
}

// What the gate `name` says of the row, also where it passed; "" when it says nothing.
std::string words_of_gate(const report::Row& row, const std::string& name) {
  for (const judge::Finding& finding : row.judgement.gates)
    if (finding.gate == name && !finding.sentence.empty()) return finding.sentence;
  return "";
}

// An interval wider than this says nothing of the lies told here, which are of some per cent and
// more.
constexpr double kTold = 1.25;

bool is_equal(const judge::Interval& interval) {
  return interval.high <= kTold * interval.low && interval.low <= 1.01 && interval.high >= 0.99;
}

Outcome equality_of(const report::Row& row, const std::string& naive, const std::string& by) {
  const judge::Judgement& judgement = row.judgement;
  const judge::Interval& interval = judgement.control_interval;
  Outcome outcome{naive,
                  fmt::format("incumbent / control {:.3f} {}", judgement.control_ratio,
                              interval_text(interval)),
                  "", "", false};
  if (!(judgement.control_ratio > 0)) return outcome;
  const judge::Finding* refusal = failed_finding(row, "control");
  outcome.caught = is_equal(interval) || refusal != nullptr;
  if (!outcome.caught) return outcome;
  outcome.gate = by;
  outcome.sentence = words_of_gate(row, refusal != nullptr ? "control" : by);
  if (outcome.sentence.empty())
    outcome.sentence = "the incumbent, prepared again, does not differ from itself";
  return outcome;
}

}  // namespace

const report::Row& Headroom::row(std::size_t index) const {
  if (index >= results.rows.size())
    fail(Blame::kMachine, "tare headroom ended with code {} and left no row: {}", exit_code,
         complaints);
  return results.rows[index];
}

std::string Laboratory::arm(const std::string& name) const {
  const fs::path folder = fs::path(arms::module_folder_of(executable_)).parent_path() / "traps";
  const fs::path path = folder / (name + ".so");
  if (!fs::exists(path))
    fail(Blame::kMachine, "The lying arm {} is missing from this build. Build again.",
         path.string());
  return path.string();
}

std::string Laboratory::module(const std::string& name) const {
  const fs::path path = fs::path(arms::module_folder_of(executable_)) / (name + ".so");
  if (!fs::exists(path))
    fail(Blame::kMachine, "This trap needs {}, which is not there: tare doctor says why.", name);
  return path.string();
}

Headroom Laboratory::headroom(const std::vector<std::string>& arguments,
                              const Environment& environment) const {
  const Scratch scratch;
  std::vector<std::string> command{executable_, "headroom"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::string json = scratch.file("results.jsonl"), complaints = scratch.file("stderr");
  command.insert(command.end(), {"--json", json});
  Headroom run;
  run.exit_code = run_program(command, environment_with(environment), complaints);
  run.complaints = text_of(complaints);
  if (!fs::exists(json))
    fail(Blame::kMachine, "tare {} ended with code {} and left no results: {}",
         fmt::join(command.begin() + 1, command.end(), " "), run.exit_code, run.complaints);
  run.results = report::read_results(json);
  return run;
}

const report::Row& Laboratory::equal_arms() const {
  // The candidate is the same kernel once more, so that no verdict ends the row early.
  if (!equal_)
    equal_ = headroom(
        cold_row({"--seconds-per-row", "2", "--traffic", "6e7", "--arm", arm("is_the_incumbent")}));
  return equal_->row();
}

const report::Row& Laboratory::equal_arms_anew() const {
  equal_.reset();
  return equal_arms();
}

const judge::Rules& Laboratory::rules() const {
  equal_arms();
  return equal_->results.header.rules;
}

std::vector<std::string> cold_row(const std::vector<std::string>& more) {
  return row_arguments("cold", more);
}

std::vector<std::string> hot_row(const std::vector<std::string>& more) {
  return row_arguments("hot", more);
}

std::string words_of(const report::Row& row) {
  const judge::Judgement& judgement = row.judgement;
  std::string words = judge::to_string(judgement.verdict);
  if (is_refused(row)) return words + "(" + judgement.cause + ")";
  if (judgement.ratio > 0)
    words += fmt::format(", {:.2f}x {}", judgement.ratio, interval_text(judgement.interval));
  return words + ", " + judge::to_string(judgement.decision);
}

Outcome refused_by(const report::Row& row, const std::vector<std::string>& gates,
                   std::string naive) {
  Outcome outcome = outcome_of(row, std::move(naive));
  for (const std::string& gate : gates) {
    const judge::Finding* finding = failed_finding(row, gate);
    const bool failed = gate == row.judgement.cause && is_refused(row);
    if (finding == nullptr && !failed && !set_aside_by(row, gate)) continue;
    outcome.gate = gate;
    if (finding != nullptr) outcome.sentence = finding->sentence;
    outcome.caught = true;
    return outcome;
  }
  return outcome;
}

bool noted_noise(const report::Row& row) {
  return !words_of_gate(row, "noise").empty();
}

Outcome denied(const report::Row& row, double naive_ratio, std::string naive, std::string by) {
  Outcome outcome = outcome_of(row, std::move(naive));
  const judge::Interval& interval = row.judgement.interval;
  const bool excluded = naive_ratio > interval.high || naive_ratio < interval.low;
  outcome.caught = is_refused(row) || (excluded && row.judgement.ratio > 0);
  if (outcome.caught) outcome.gate = std::move(by);
  return outcome;
}

Outcome found_equal(const Laboratory& laboratory, const std::vector<std::string>& arguments,
                    const std::string& naive, const std::string& by) {
  Outcome first = equality_of(laboratory.headroom(arguments).row(), naive, by);
  return first.caught ? first : equality_of(laboratory.headroom(arguments).row(), naive, by);
}

Outcome found_equal(const Laboratory& laboratory, const std::string& naive, const std::string& by) {
  Outcome first = equality_of(laboratory.equal_arms(), naive, by);
  return first.caught ? first : equality_of(laboratory.equal_arms_anew(), naive, by);
}

Outcome run_liar(const Laboratory& laboratory, const Liar& liar) {
  const NaiveResult honest = run_naively(liar.plan, {laboratory.module("onednn")}).front();
  const NaiveResult lie = run_naively(liar.plan, {laboratory.arm(liar.arm)}).front();
  std::string naive = lie.died.empty() ? times_as_fast(honest.mean() / lie.mean()) : lie.died;
  if (liar.plan.check != nullptr && lie.died.empty())
    naive += lie.passed ? ", its check passed" : ", but its check failed";
  naive += liar.claim;
  std::vector<std::string> arguments = liar.arguments;
  arguments.insert(arguments.end(), {"--arm", laboratory.arm(liar.arm)});
  return refused_by(laboratory.headroom(arguments).row(), liar.gates, std::move(naive));
}

std::string times_as_fast(double ratio, const std::string& as) {
  const int digits = ratio < 0.1 ? 4 : ratio < 10 ? 2 : 0;
  return fmt::format("{:.{}f}x as fast as {}", ratio, digits, as);
}

std::vector<double> rounds_of(const report::Row& row, weigh::Role role) {
  std::vector<double> seconds;
  for (const weigh::Region& region : row.weighing.regions)
    if (region.arm == role && region.purpose == weigh::Purpose::kRound)
      seconds.push_back(region.seconds / static_cast<double>(region.dispatches));
  return seconds;
}

}  // namespace tare::traps
