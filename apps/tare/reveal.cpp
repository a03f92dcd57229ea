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
#include "probed_host.h"
#include "problem/problem.h"
#include "program.h"
#include "prove/compare.h"
#include "prove/reveal.h"
#include "prove/reveal_blocks.h"
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
// that are rounded to 8 bits have a scale of f16 for each block: 127 times a power of two makes
// that scale exact. (With powers of two themselves the scales, and so the products, were rounded:
// of two huge ones that should cancel what was left swallowed the small ones.)
struct Masks {
  float huge, unit;
};
Masks masks_of(const tare_problem& problem) {
  if (problem.activations == TARE_BF16_AS_INT8) return {127 * 0x1p14F, 127 * 0x1p-20F};
  return {0x1p60F, 1.0F};
}

// Elements of x that share a scale, whose products are whole numbers and added exactly; 1 where
// activations are not rounded.
std::uint64_t block_of(const tare_problem& problem) {
  if (problem.activations != TARE_BF16_AS_INT8) return 1;
  return std::max<std::uint64_t>(32, formats::format_of(problem.weights).block);
}

// The weight that all of a probe's have.
double weight_of(const tare_problem& problem) {
  std::vector<double> weights;
  prove::generate_row({problem.weights, problem.k, problem.n, kSeed, 0, Data::kOnes}, 0, weights);
  return weights.front();
}

// Asks one arm at one row count. Every row of x is the same probe, so that every output must give
// the same answer; those that do not have an order of their own.
class Asker {
 public:
  Asker(ProbedHost& host, const tare_problem& problem, std::uint32_t rows)
      : host_(host),
        problem_(problem),
        rows_(rows),
        masks_(masks_of(problem)),
        unit_(masks_.unit * weight_of(problem)),
        y_(rows * problem.n) {
    const std::uint64_t one[] = {0};
    const double seen = answer(probe(one, masks_.unit));
    if (!(std::fabs(seen / unit_ - 1) < 0.01))
      fail(Blame::kArm, "a single product of {} is {}", unit_, seen);
  }

  // Outputs y[row, j] that at some probe answered otherwise than y[0, 0].
  std::size_t outliers() const { return static_cast<std::size_t>(std::ranges::count(odd_, true)); }

  std::uint64_t count(std::uint64_t i, std::uint64_t j, std::span<const std::uint64_t> units) {
    std::uint64_t reached = 0;
    for (; !units.empty(); units = units.subspan(std::min(units.size(), kMostAtOnce)))
      reached += count_at_once(i, j, units.first(std::min(units.size(), kMostAtOnce)));
    return reached;
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
  // Rounded to bf16, so many times a unit are told from one more or less.
  static constexpr std::size_t kMostAtOnce = 128;

  std::uint64_t count_at_once(std::uint64_t i, std::uint64_t j,
                              std::span<const std::uint64_t> units) {
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

  static void put(std::vector<Bf16>& row, std::uint64_t product, float value) {
    row[product] = prove::to_bf16(value);
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
  Masks masks_;
  double unit_;  // what one product adds to an output
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
  explicit Run(const RevealOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : device::inspect().threads),
        problem_(problem_of(options)),
        stage_({&problem_, 1}),
        roster_(roster_options()) {
    for (const arms::Absent& absent : roster_.absent())
      if (absent.plugin) fail(Blame::kInput, "--arm {}", absent.reason);
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
    arms::RosterOptions roster;
    roster.executable = executable_path();
    roster.module_folder = arms::module_folder_of(roster.executable);
    roster.plugins = options_.plugins;
    roster.threads = threads_;
    roster.inputs = &stage_.inputs_memory();
    roster.outputs = &stage_.outputs_memory();
    roster.patience = patience();
    return roster;
  }

  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(static_cast<long>(1000 * options_.patience_seconds));
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
    const std::uint64_t block = block_of(problem_);
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
    probed.patience = patience();
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
  if (format->has_bias && format->family != formats::Family::kBlocks)
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
