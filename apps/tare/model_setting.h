// What the verbs over whole models share: the engine's files, the plan, the threads.
#pragma once

#include "model_verbs.h"
#include "plan/plan.h"
#include "serve/model_host.h"

namespace tare::app {

void add_model_options(CLI::App* verb, ModelOptions& options);

struct ModelSetting {
  plan::Plan plan;
  serve::ModelHostOptions host;  // with the plan
};

// Throws tare::Error: kInput for a plan that cannot be read or a number of threads that is not its
// own; kMachine where llama.cpp was not built.
ModelSetting model_setting(const ModelOptions& options);

}  // namespace tare::app
