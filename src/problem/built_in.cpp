#include <fmt/format.h>

#include "built_in_models.h"
#include "problem/config.h"
#include "problem/json_fields.h"
#include "problem/problem.h"

namespace tare::problem {

std::vector<Model> default_models() {
  std::vector<Model> models;
  for (const auto& [name, text] : kBuiltInModels) {
    const std::string where = fmt::format("built-in model '{}'", name);
    models.push_back(model_from_config(parse_object(text, where), where, name));
    models.back().source = "built in";
  }
  return models;
}

}  // namespace tare::problem
