#include "reveal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "arms/roster.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "device/machine.h"
#include "formats/weight_format.h"
#include "libraries.h"
#include "probed_host.h"
#include "problem/problem.h"
#include "program.h"
#include "prove/compare.h"
#include "prove/reveal.h"
#include "prove/weights.h"
#include "report/line_file.h"
#include "report/text.h"
#include "weigh/stage.h"

namespace tare::app {
namespace {

using prove::Bf16;
using prove::Data;

constexpr std::uint64_t kSeed = 1;  // of what predictions are tried on

// What the products of a probe are: huge ones swallow small ones, and do not overflow. Activations
// that are rounded to 8 bits have scales of f16, which end at 65504 and 2^-24.
struct Masks {
  float huge, unit;
};
Masks masks_of(const tare_problem& problem) {
  if (problem.activations == TARE_BF16_AS_INT8) return {0x1p21F, 0x1p-12F};
  return {0x1p60F, 1.0F};
}

// Products that are added one by one: single elements, or whole blocks where activations are
// rounded to 8 bits, whose integers are added exactly.
std::uint64_t block_of(const tare_problem& problem) {
  if (problem.activations != TARE_BF16_AS_INT8) return 1;
  return std::max<std::uint64_t>(32, formats::format_of(problem.weights).block);
}

// Asks one arm at one row count. Every row of x is the same probe, so that every output must give
// the same answer; those that do not have an order of their own.
class Asker {
 public:
  Asker(ProbedHost& host, const tare_problem& problem, std::uint32_t rows)
      : host_(host),
        problem_(problem),
        rows_(rows),
        block_(block_of(problem)),
        masks_(masks_of(problem)),
        y_(rows * problem.n) {
    const std::uint64_t one[] = {0};
    unit_ = answer(probe(one, masks_.unit));
    if (!(unit_ > 0)) fail(Blame::kArm, "a single product of {} is {}", masks_.unit, unit_);
  }

  std::uint64_t products() const { return problem_.k / block_; }
  // Outputs y[row, j] that at some probe answered otherwise than y[0, 0].
  std::size_t outliers() const { return static_cast<std::size_t>(std::ranges::count(odd_, true)); }

  std::uint64_t count(std::uint64_t i, std::uint64_t j, std::span<const std::uint64_t> units) {
    std::vector<Bf16> row = probe(units, masks_.unit);
    put(row, i, masks_.huge);
    put(row, j, -masks_.huge);
    const double reached = answer(row) / unit_;
    const double whole = std::round(reached);
    if (!(std::fabs(reached - whole) < 0.3) || whole < 0 ||
        whole > static_cast<double>(units.size()))
      fail(Blame::kArm, "of {} equal products {} reached the result: it does not only add",
           units.size(), reached);
    return static_cast<std::uint64_t>(whole);
  }

  // How many outputs of cancelling data the tree gives bit for bit.
  std::uint64_t predicted(const prove::SumTree& tree) {
    std::vector<Bf16> row(problem_.k), x;
    prove::draw_row({Data::kCancelling, problem_.weights, problem_.k, kSeed, 0}, 0, row);
    for (std::uint32_t r = 0; r < rows_; ++r) x.insert(x.end(), row.begin(), row.end());
    host_.run(Data::kCancelling, rows_, x, 0, y_);
    std::uint64_t right = 0;
    std::vector<double> weights;
    std::vector<float> products(problem_.k);
    for (std::uint64_t j = 0; j < problem_.n; ++j) {
      prove::generate_row({problem_.weights, problem_.k, problem_.n, kSeed, 0, Data::kCancelling},
                          j, weights);
      for (std::uint64_t i = 0; i < problem_.k; ++i)
        products[i] = prove::to_float(row[i]) * static_cast<float>(weights[i]);
      right += y_[j] == prove::to_bf16(prove::sum_in_order(tree, products)) ? 1 : 0;
    }
    return right;
  }

 private:
  void put(std::vector<Bf16>& row, std::uint64_t product, float value) const {
    std::fill_n(row.begin() + static_cast<long>(product * block_), block_, prove::to_bf16(value));
  }

  std::vector<Bf16> probe(std::span<const std::uint64_t> products, float value) const {
    std::vector<Bf16> row(problem_.k, 0);
    for (const std::uint64_t product : products) put(row, product, value);
    return row;
  }

  double answer(const std::vector<Bf16>& row) {
    x_.clear();
    for (std::uint32_t r = 0; r < rows_; ++r) x_.insert(x_.end(), row.begin(), row.end());
    host_.run(Data::kOnes, rows_, x_, 0, y_);
    odd_.resize(y_.size());
    for (std::size_t at = 0; at < y_.size(); ++at) odd_[at] = odd_[at] || y_[at] != y_[0];
    return prove::to_float(y_[0]);
  }

  ProbedHost& host_;
  tare_problem problem_;
  std::uint32_t rows_;
  std::uint64_t block_;
  Masks masks_;
  double unit_ = 1;
  std::vector<Bf16> x_, y_;
  std::vector<bool> odd_;
};

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
};

class Run {
 public:
  explicit Run(const RevealOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : device::inspect().threads),
        problem_(problem_of(options)),
        stage_({&problem_, 1}),
        roster_(roster_options()) {
    check_plugins(roster_);
    if (!options.json_path.empty()) file_ = std::make_unique<report::LineFile>(options.json_path);
  }

  int run() {
    bool complete = true;
    std::size_t asked = 0;
    fmt::print("{}x{}, {} weights\n", problem_.k, problem_.n, formats::type_name(problem_.weights));
    for (const arms::RosterArm& arm : roster_.arms()) {
      if (!is_asked_for(arm)) continue;
      ++asked;
      complete &= reveal_arm(arm);
    }
    if (asked == 0) fail(Blame::kInput, "No implementation here is called so; see tare doctor.");
    return complete ? kExitDone : kExitIncomplete;
  }

 private:
  static tare_problem problem_of(const RevealOptions& options) {
    const std::uint32_t weights = formats::type_number(options.weights);
    return problem::problem_of(problem::parse_shape(options.shape).projections.front(),
                               std::ranges::max(options.rows), weights,
                               problem::usual_activations(weights));
  }

  arms::RosterOptions roster_options() const {
    arms::RosterOptions roster = app::roster_options(stage_, threads_);
    roster.plugins = options_.plugins;
    roster.patience = patience_of(options_.patience_seconds);
    return roster;
  }

  bool is_asked_for(const arms::RosterArm& arm) const {
    if (arm.part == arms::Part::kLimit) return false;
    if (!options_.names.empty())
      return std::ranges::find(options_.names, arm.description.name) != options_.names.end();
    return options_.plugins.empty() || arm.plugin;
  }

  // False where it failed. Row counts with the same order are told together.
  bool reveal_arm(const arms::RosterArm& arm) {
    if (const auto why = arm.host->refusal(arm.index, problem_)) {
      fmt::print("\n{}: {}\n", report::printable(arm.description.title), report::printable(*why));
      return true;
    }
    try {
      std::vector<Finding> found;
      ProbedHost host(probed(arm), stage_);
      for (const std::uint32_t rows : options_.rows) found.push_back(reveal_rows(arm, host, rows));
      print(found);
      return true;
    } catch (const Error& error) {
      fmt::print("\n{}: {}\n", report::printable(arm.description.title),
                 report::printable(error.what()));
      return false;
    }
  }

  Finding reveal_rows(const arms::RosterArm& arm, ProbedHost& host, std::uint32_t rows) {
    Asker asker(host, problem_, rows);
    const prove::CountReached count = [&](std::uint64_t i, std::uint64_t j, auto units) {
      return asker.count(i, j, units);
    };
    const prove::SumTree tree = prove::reveal(asker.products(), count);
    Finding finding{arm.description.name,
                    arm.description.title,
                    report::field_text(host.ran().at(rows).kernel),
                    rows,
                    prove::name_of(tree),
                    prove::drawing_of(tree, options_.lines),
                    "",
                    asker.outliers(),
                    tree_json(tree)};
    if (asker.products() == problem_.k && !prove::has_fused(tree))
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
      fmt::print("\n{}, {}{}: {}\n{}", report::printable(one.title),
                 rows.size() == 1 && rows[0] == 1 ? "1 row"
                                                  : fmt::format("rows {}", fmt::join(rows, ", ")),
                 one.kernel.empty() ? "" : fmt::format(" ({})", report::printable(one.kernel)),
                 one.name, one.drawing);
      if (!one.prediction.empty()) fmt::print("{}\n", one.prediction);
      if (one.outliers > 0)
        fmt::print("{} outputs add in another order than the first\n", one.outliers);
      std::fflush(stdout);
      first = next;
    }
  }

  void keep(const Finding& finding) {
    if (!file_) return;
    const nlohmann::json line = {{"arm", finding.arm},
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
                                 {"tree", finding.tree}};
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
    probed.weight_seed = kSeed;
    return probed;
  }

  const RevealOptions& options_;
  std::uint32_t threads_;
  tare_problem problem_;
  weigh::Stage stage_;
  arms::Roster roster_;
  std::unique_ptr<report::LineFile> file_;
};

void check(const RevealOptions& options) {
  const formats::WeightFormat* format = formats::find_format(options.weights);
  if (format == nullptr)
    fail(Blame::kInput, "--weights {}: no such type.", report::printable(options.weights));
  if (format->has_bias)
    fail(Blame::kInput,
         "--weights {}: equal weights of it are all bias and no code, so that a probe sees half of "
         "the sum. Reveal a type without a bias.",
         options.weights);
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
  verb->add_option("--weights", options.weights, "the weights' type")->capture_default_str();
  verb->add_option("--rows", options.rows, "row counts")->delimiter(',')->capture_default_str();
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
      "Exit codes: 0 done; 1 an arm failed or has no fixed order; 2 bad usage or input; 130 "
      "interrupted.");
  return verb;
}

int reveal(const RevealOptions& options) {
  check(options);
  watch_for_interrupts();
  return Run(options).run();
}

}  // namespace tare::app
