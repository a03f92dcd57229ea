#include "replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "program.h"
#include "report/budget.h"
#include "report/explain.h"
#include "report/results.h"
#include "report/row_choice.h"
#include "report/table.h"
#include "report/text.h"
#include "terminal.h"

namespace tare::app {

CLI::App* add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "replay", "Print the table of a results file again, judged anew from its samples");
  verb->add_option("file", options.path, "written by --json")->required();
  verb->add_flag("--all", options.all, "show the other incumbents, too");
  verb->add_flag("--budget", options.budget,
                 "print where a token's weights and time go instead, as tare budget does");
  verb->add_option("--explain", options.explain,
                   "walk through one verdict instead: the row's number, or words that name it");
  verb->footer(
      "Examples:\n"
      "  tare replay run.jsonl\n"
      "  tare replay run.jsonl --explain 3\n"
      "  tare replay run.jsonl --explain 'Qwen2.5-1.5B q/o 8'\n"
      "  tare replay run.jsonl --explain 1536x1536x8\n"
      "Exit codes: as of the run, 0 with --explain; 2 when the file cannot be read, only in part,\n"
      "or was changed, and when no row or several are named.");
  return verb;
}

namespace {

// A file of nothing but damage must not flood the terminal.
void print_complaints(const std::vector<std::string>& complaints) {
  constexpr std::size_t kMost = 50;
  for (std::size_t i = 0; i < std::min(complaints.size(), kMost); ++i) {
    fmt::print(stderr, "tare: {}\n", report::printable(complaints[i]));
  }
  if (complaints.size() > kMost) {
    fmt::print(stderr, "tare: and {} more complaints.\n", complaints.size() - kMost);
  }
}

std::string table_of(const report::Results& results, const report::TableStyle& style) {
  std::string table = report::table_head(results.header, style);
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    table += report::table_row(results, i, style);
  }
  return table + report::table_foot(results, style);
}

// Complaints come first here: they may say why no row is the one that is wanted.
int explain(const report::Results& results, const std::string& wanted,
            const report::TableStyle& style) {
  print_complaints(results.complaints);
  fmt::print("{}", report::explanation(results, report::choose_row(results, wanted), style));
  return results.complaints.empty() ? kExitDone : kExitBadInput;
}

}  // namespace

int replay(const ReplayOptions& options) {
  const report::Results results = report::read_results(options.path);
  const report::TableStyle style{colours_on_stdout(), options.all};
  if (!options.explain.empty()) return explain(results, options.explain, style);
  fmt::print("{}", options.budget ? report::budget_text(results, style) : table_of(results, style));
  print_complaints(results.complaints);
  return results.complaints.empty() ? report::exit_code(results) : kExitBadInput;
}

}  // namespace tare::app
