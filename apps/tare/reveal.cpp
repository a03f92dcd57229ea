#include "reveal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "arms/roster.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "device/machine.h"
#include "formats/weight_format.h"
#include "headroom.h"
#include "libraries.h"
#include "line_header.h"
#include "order_asker.h"
#include "probed_host.h"
#include "problem/problem.h"
#include "program.h"
#include "progress.h"
#include "prove/reveal.h"
#include "prove/reveal_blocks.h"
#include "report/line_file.h"
#include "report/text.h"
#include "terminal.h"
#include "weigh/stage.h"

namespace tare::app {
namespace {

nlohmann::json tree_json(const prove::SumTree& tree) {
  nlohmann::json joins = nlohmann::json::array();
  for (const auto& parts : tree.joins) {
    nlohmann::json list = nlohmann::json::array();
    for (const prove::SumTree& part : parts)
      list.push_back(part.is_leaf() ? nlohmann::json(part.first) : tree_json(part));
    joins.push_back(parts.size() == 1 ? list[0] : list);
  }
  return {{"first", tree.first}, {"joins", joins}};
}

// What was found of one arm at one row count.
struct Finding {
  std::string arm, title, kernel;
  std::uint32_t rows = 0;
  std::string name, drawing, prediction;
  std::uint64_t outliers = 0;
  nlohmann::json tree;
  std::vector<std::vector<std::uint64_t>> lanes;  // prove::BlockOrder's; none: a product an element
};

// "a product: 4 elements of each block of 32 (0, 1, 2, 3), added as whole numbers; ..."
std::string products_text(const Finding& finding) {
  if (finding.lanes.empty()) return "";
  constexpr std::size_t kShown = 8;
  const auto& first = finding.lanes.front();
  std::uint64_t block = 0;
  for (const auto& lane : finding.lanes) block += lane.size();
  if (finding.lanes.size() == 1)
    return fmt::format("a product: all {} elements of a block, added as whole numbers\n", block);
  return fmt::format(
      "a product: {} elements of a block of {} ({}{}), added as whole numbers; a block is {} of "
      "them\n",
      first.size(), block, fmt::join(std::span(first).first(std::min(first.size(), kShown)), ", "),
      first.size() > kShown ? " …" : "", finding.lanes.size());
}

class Run {
 public:
  Run(const RevealOptions& options, const std::string& weights)
      : options_(options),
        threads_(threads_of(options.threads, device::inspect().threads)),
        problem_(problem_of(options, weights)),
        stage_({&problem_, 1}),
        roster_(roster_options()) {
    check_plugins(roster_);
    check_memory(problem_, 2, "reveal");
    for (const std::string& name : options.names) check_name(roster_, "--candidate", name);
  }

  // `file`: null where no trees are to be kept.
  int run(report::LineFile* file) {
    file_ = file;
    bool complete = true;
    std::size_t asked = 0;
    fmt::print("{}x{}, {} weights\n", problem_.k, problem_.n, formats::type_name(problem_.weights));
    std::fflush(stdout);
    for (const arms::RosterArm& arm : roster_.arms()) {
      if (!is_asked_for(arm)) continue;
      ++asked;
      complete &= reveal_arm(arm);
    }
    if (!refusing_.empty())
      fmt::print("\nNot asked, for they do not compute this: {}\n", fmt::join(refusing_, ", "));
    if (asked == 0) fail(Blame::kInput, "No implementation here is called so; see tare doctor.");
    return complete ? kExitDone : kExitIncomplete;
  }

 private:
  static tare_problem problem_of(const RevealOptions& options, const std::string& type) {
    const std::uint32_t weights = formats::type_number(type);
    return problem::problem_of(problem::parse_shape(options.shape).projections.front(),
                               std::ranges::max(options.rows), weights,
                               problem::usual_activations(weights));
  }

  arms::RosterOptions roster_options() const {
    arms::RosterOptions roster = app::roster_options(stage_, threads_);
    roster.plugins = options_.plugins;
    roster.where = options_.where;
    roster.patience = patience_of(options_.patience_seconds);
    return roster;
  }

  bool is_named(const arms::RosterArm& arm) const {
    return arm.plugin ||
           std::ranges::find(options_.names, arm.description.name) != options_.names.end();
  }

  bool is_asked_for(const arms::RosterArm& arm) const {
    if (arm.part == arms::Part::kLimit) return false;
    return (options_.names.empty() && options_.plugins.empty()) || is_named(arm);
  }

  // False where it failed. Row counts with the same order are told together.
  bool reveal_arm(const arms::RosterArm& arm) {
    if (const auto why = arm.host->refusal(arm.index, problem_)) {
      if (is_named(arm))
        fmt::print("\n{}: {}\n", report::printable(arm.description.title), report::printable(*why));
      else
        refusing_.push_back(report::printable(arm.description.title));
      return true;
    }
    std::vector<Finding> found;
    const std::string failure = reveal_all_rows(arm, found);
    print(found);
    if (interrupt_requested()) throw Interrupted();
    if (!failure.empty())
      fmt::print("\n{}: {}\n", report::printable(arm.description.title),
                 report::printable(failure));
    return failure.empty();
  }

  // What was found before an arm failed, or before ^C, is there. Why it failed; "": it did not.
  std::string reveal_all_rows(const arms::RosterArm& arm, std::vector<Finding>& found) {
    try {
      ProbedHost host(probed(arm), stage_);
      Progress progress(options_.rows.size(), progress_on_stderr());
      for (const std::uint32_t rows : options_.rows) {
        progress.row(fmt::format("{}, {} rows", arm.description.name, rows));
        progress.step("asking");
        found.push_back(reveal_rows(arm, host, rows));
        progress.row_done();
      }
      return "";
    } catch (const Error& error) {
      return error.what();
    } catch (const Interrupted&) {
      return "";
    }
  }

  Finding reveal_rows(const arms::RosterArm& arm, ProbedHost& host, std::uint32_t rows) {
    OrderAsker asker(host, problem_, rows);
    const prove::CountReached count = [&](std::uint64_t i, std::uint64_t j, auto units) {
      return asker.count(i, j, units);
    };
    const std::uint64_t block = asker.block();
    const prove::BlockOrder order = block == 1
                                        ? prove::BlockOrder{{}, prove::reveal(problem_.k, count)}
                                        : prove::reveal_blocks(problem_.k / block, block, count);
    const prove::SumTree& tree = order.tree;
    Finding finding{arm.description.name,
                    arm.description.title,
                    report::field_text(host.ran().at(rows).kernel),
                    rows,
                    prove::name_of(tree),
                    prove::drawing_of(tree, options_.lines),
                    "",
                    asker.outliers(),
                    tree_json(tree),
                    order.lanes};
    if (block == 1 && !prove::has_fused(tree))
      finding.prediction = fmt::format("it gives {} of {} outputs of cancelling data, bit for bit",
                                       asker.predicted(tree), problem_.n);
    keep(finding);
    return finding;
  }

  void print(const std::vector<Finding>& found) const {
    for (std::size_t first = 0; first < found.size();) {
      const Finding& one = found[first];
      std::vector<std::uint32_t> rows;
      std::size_t next = first;
      for (; next < found.size() && found[next].tree == one.tree &&
             found[next].kernel == one.kernel && found[next].outliers == one.outliers;
           ++next)
        rows.push_back(found[next].rows);
      fmt::print("\n{}, {}{}: {}\n{}{}", report::printable(one.title),
                 rows.size() == 1 && rows[0] == 1 ? "1 row"
                                                  : fmt::format("rows {}", fmt::join(rows, ", ")),
                 one.kernel.empty() ? "" : fmt::format(" ({})", report::printable(one.kernel)),
                 one.name, products_text(one), one.drawing);
      if (!one.prediction.empty()) fmt::print("{}\n", one.prediction);
      if (one.outliers > 0)
        fmt::print("{} outputs add in another order than the first\n", one.outliers);
      std::fflush(stdout);
      first = next;
    }
  }

  void keep(const Finding& finding) {
    if (!file_) return;
    const nlohmann::json line = {{"kind", "order"},
                                 {"arm", finding.arm},
                                 {"title", finding.title},
                                 {"kernel", finding.kernel},
                                 {"k", problem_.k},
                                 {"n", problem_.n},
                                 {"weights", std::string(formats::type_name(problem_.weights))},
                                 {"rows", finding.rows},
                                 {"threads", threads_},
                                 {"order", finding.name},
                                 {"other_outputs", finding.outliers},
                                 {"prediction", finding.prediction},
                                 {"tree", finding.tree},
                                 {"elements", finding.lanes}};
    file_->write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  ProbedArm probed(const arms::RosterArm& arm) const {
    ProbedArm probed;
    probed.executable = executable_path();
    probed.module_path = arm.host->module_path();
    probed.index = arm.index;
    probed.threads = threads_;
    probed.patience = patience_of(options_.patience_seconds);
    probed.problem = problem_;
    probed.weight_seed = kProbedSeed;
    return probed;
  }

  const RevealOptions& options_;
  std::uint32_t threads_;
  tare_problem problem_;
  weigh::Stage stage_;
  arms::Roster roster_;
  std::vector<std::string> refusing_;  // titles
  report::LineFile* file_ = nullptr;
};

void check_type(const std::string& weights) {
  const formats::WeightFormat* format = formats::find_format(weights);
  if (format == nullptr)
    fail(Blame::kInput, "--weights {}: no such type.", report::printable(weights));
  if (format->has_bias && format->family != formats::Family::kBlocks)
    fail(Blame::kInput,
         "--weights {}: equal weights of it are all bias and no code, so that a probe sees half of "
         "the sum. Reveal a type without a bias.",
         weights);
}

void check(const RevealOptions& options) {
  for (const std::string& weights : options.weights) check_type(weights);
  constexpr std::uint32_t kMost = 256;
  for (const std::uint32_t rows : options.rows)
    if (rows < 1 || rows > kMost) fail(Blame::kInput, "--rows {}: from 1 to {}.", rows, kMost);
}

}  // namespace

CLI::App* add_reveal(CLI::App& app, RevealOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "reveal", "In which order does an implementation add? Found by probing its results alone");
  verb->add_option("--arm", options.plugins, "your own kernel: a shared library")
      ->allow_extra_args(false);
  verb->add_option("--candidate", options.names, "only these arms, by name; default: all")
      ->delimiter(',');
  verb->add_option("--shape", options.shape, "k x n")->capture_default_str();
  verb->add_option("--weights", options.weights, "types of weights, e.g. bf16,q8_0")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--rows", options.rows, "row counts")->delimiter(',')->capture_default_str();
  verb->add_option("--device", options.where, "where arms run: the processor, or the first GPU")
      ->transform(device_words());
  verb->add_option("--threads", options.threads, "processors an arm may use (default: all)");
  verb->add_option("--patience", options.patience_seconds,
                   "an arm that gives no answer for so many seconds hangs")
      ->capture_default_str();
  verb->add_option("--lines", options.lines, "of a tree that are printed")->capture_default_str();
  verb->add_option("--json", options.json_path, "write the whole trees to this file");
  verb->footer(
      "Examples:\n"
      "  tare reveal                                   everything found here\n"
      "  tare reveal --candidate ggml --rows 1,2 --shape 4096x64\n"
      "  tare reveal --arm ./libmine.so\n"
      "  tare reveal --device cuda --candidate cublaslt,tare-cuda\n"
      "Exit codes: 0 done; 1 an arm failed or has no fixed order; 2 bad usage or input; 130 "
      "interrupted.");
  return verb;
}

int reveal(const RevealOptions& options) {
  check(options);
  watch_for_interrupts();
  // A GPU that cannot be used is told before anything is asked.
  const auto accelerator = accelerator_at(options.where);
  std::unique_ptr<report::LineFile> file;
  int exit_code = kExitDone;
  for (const std::string& weights : options.weights) {
    Run run(options, weights);
    // Only now: what was called wrongly must not cost an older file its trees.
    if (!file && !options.json_path.empty()) {
      file = std::make_unique<report::LineFile>(options.json_path);
      file->write(line_header("tare.reveal/1", options.command,
                              accelerator ? device::summary(*accelerator)
                                          : device::summary(device::inspect()))
                      .dump());
    }
    exit_code = std::max(exit_code, run.run(file.get()));
  }
  return exit_code;
}

}  // namespace tare::app
