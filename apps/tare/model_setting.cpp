#include "model_setting.h"

#include <filesystem>

#include "base/error.h"
#include "program.h"

namespace tare::app {

namespace fs = std::filesystem;

void add_model_options(CLI::App* verb, ModelOptions& options) {
  verb->add_option("model", options.model,
                   "a .gguf file; for MLX a folder of mlx-lm's, a config.json (drawn weights), or "
                   "MODULE:FUNCTION that makes one")
      ->required();
  verb->add_option("--plan", options.plan, "made by tare plan on this machine")->required();
  verb->add_option("--threads", options.threads, "default: the plan's");
  verb->add_option("--engine", options.engine, "what runs the model")
      ->check(CLI::IsMember({"llama.cpp", "mlx"}))
      ->capture_default_str();
  verb->add_option("--python", options.python, "with mlx: the Python that has MLX")
      ->capture_default_str();
  verb->add_option("--json", options.json_path, "write the results to this file");
}

namespace {

void use_llama_cpp(const fs::path& folder, serve::ModelHostOptions& host) {
  host.executable = (folder / "llama-host").string();
  host.backend = (folder / "libggml-tare.so").string();
  for (const std::string& file : {host.executable, host.backend})
    if (!fs::exists(file))
      fail(Blame::kMachine,
           "'{}' is not there: whole models are run in llama.cpp. scripts/llama-cpp builds it; "
           "then build Tare again.",
           file);
  if (!fs::exists(host.model)) fail(Blame::kInput, "'{}': there is no such file.", host.model);
}

// Not `-m tare_mlx.host`: a Python without MLX is the likeliest mistake, and needs no traceback.
constexpr const char* kMlxHost =
    "import sys\n"
    "try:\n"
    "    from tare_mlx.host import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'tare: {sys.executable} cannot run the model: {error}. Name the Python that has "
    "MLX, as scripts/setup made it: --python .deps/venv/bin/python')\n"
    "sys.exit(main())\n";

void use_mlx(const fs::path& folder, const std::string& python, serve::ModelHostOptions& host) {
  host.engine = "MLX";
  host.executable = python;
  host.arguments = {"-c", kMlxHost};
  host.python_path = (folder / "python").string();
}

}  // namespace

ModelSetting model_setting(const ModelOptions& options) {
  ModelSetting setting;
  setting.plan = plan::read_plan(options.plan);
  const fs::path folder = fs::path(executable_path()).parent_path().parent_path() / "lib" / "tare";
  setting.host.model = options.model;
  setting.host.plan = fs::absolute(options.plan).string();
  setting.host.threads = options.threads == 0 ? setting.plan.keys.threads : options.threads;
  setting.host.on_device = !setting.plan.keys.accelerator.empty();
  if (options.engine == "mlx")
    use_mlx(folder, options.python, setting.host);
  else
    use_llama_cpp(folder, setting.host);
  return setting;
}

}  // namespace tare::app
