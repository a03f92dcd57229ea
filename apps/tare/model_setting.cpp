#include "model_setting.h"

#include <filesystem>

#include "base/error.h"
#include "program.h"

namespace tare::app {

namespace fs = std::filesystem;

void add_model_options(CLI::App* verb, ModelOptions& options) {
  verb->add_option("model", options.model, "a .gguf file")->required();
  verb->add_option("--plan", options.plan, "made by tare plan on this machine")->required();
  verb->add_option("--threads", options.threads, "default: the plan's");
  verb->add_option("--json", options.json_path, "write the results to this file");
}

ModelSetting model_setting(const ModelOptions& options) {
  ModelSetting setting;
  setting.plan = plan::read_plan(options.plan);
  const fs::path folder = fs::path(executable_path()).parent_path().parent_path() / "lib" / "tare";
  setting.host.executable = (folder / "llama-host").string();
  setting.host.backend = (folder / "libggml-tare.so").string();
  setting.host.model = options.model;
  setting.host.plan = fs::absolute(options.plan).string();
  setting.host.threads = options.threads == 0 ? setting.plan.keys.threads : options.threads;
  for (const std::string& file : {setting.host.executable, setting.host.backend})
    if (!fs::exists(file))
      fail(Blame::kMachine,
           "'{}' is not there: whole models are run in llama.cpp. scripts/llama-cpp builds it; "
           "then build Tare again.",
           file);
  if (!fs::exists(options.model))
    fail(Blame::kInput, "'{}': there is no such file.", options.model);
  return setting;
}

}  // namespace tare::app
