#include "budget.h"

#include "run.h"

namespace tare::app {

CLI::App* add_budget(CLI::App& app, HeadroomOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "budget",
      "Where do a token's weights and time go, and what would serving the winners give it?");
  options.rows = {1};
  options.chain = true;
  verb->add_option("model", options.models,
                   "config.json, .safetensors (or its index) or .gguf, or a built-in model: "
                   "Qwen2.5-1.5B, Qwen3-8B")
      ->required()
      ->expected(1);
  verb->add_flag("--chain,!--no-chain", options.chain,
                 "weigh all layers as one chain of dispatches, too (the default; on the processor "
                 "only)");
  add_weighing_options(*verb, options);
  verb->footer(
      "Examples:\n"
      "  tare budget Qwen2.5-1.5B\n"
      "  tare budget ./model.gguf --rows 1,8 --json run.jsonl\n"
      "  tare budget Qwen3-8B --device cuda                  on the first GPU, without the chain\n"
      "  tare replay run.jsonl --budget                      the same page again\n"
      "  tare replay run.jsonl                               its rows, as headroom prints them\n"
      "Exit codes: 0 every row has a verdict; 1 a row was refused or failed; 2 bad usage or input; "
      "130 interrupted.");
  return verb;
}

int budget(const HeadroomOptions& options) {
  check_weighing_options(options);
  HeadroomOptions here = options;
  if (here.where == arms::Where::kCuda) here.chain = false;
  return run(here, View::kBudget).exit_code;
}

}  // namespace tare::app
