#include "replay.h"

#include <fmt/format.h>

#include <cstdio>

#include "program.h"
#include "report/results.h"
#include "report/table.h"
#include "terminal.h"

namespace tare::app {

CLI::App* add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "replay", "Print the table of a results file again, judged anew from its samples");
  verb->add_option("file", options.path, "written by --json")->required();
  verb->add_flag("--all", options.all, "show the other incumbents, too");
  verb->footer(
      "Examples:\n"
      "  tare replay run.jsonl\n"
      "Exit codes: as of the run; 2 when the file cannot be read, or only in part.");
  return verb;
}

int replay(const ReplayOptions& options) {
  const report::Results results = report::read_results(options.path);
  const report::TableStyle style{colours_on_stdout(), options.all};
  std::string table = report::table_head(results.header, style);
  for (const report::Row& row : results.rows)
    table += report::table_row(row, results.header, style);
  table += report::table_foot(results, style);
  fmt::print("{}", table);
  for (const std::string& complaint : results.complaints)
    fmt::print(stderr, "tare: {}\n", complaint);
  return results.complaints.empty() ? report::exit_code(results) : kExitBadInput;
}

}  // namespace tare::app
