// A Hugging Face config.json: the shapes of a model's projections, without its weights.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "problem/problem.h"

namespace tare::problem {

// Reads a parsed config.json of one of the architectures that Tare knows; a multimodal one nests
// the text model's in text_config. `where` begins every sentence; `name` is what to call the model
// when the config does not say. `source` is left empty. Throws tare::Error (Blame::kInput).
Model model_from_config(const nlohmann::json& config, std::string_view where,
                        std::string_view name);

}  // namespace tare::problem
