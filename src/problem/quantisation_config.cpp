#include "problem/quantisation_config.h"

#include "base/error.h"
#include "problem/byte_reader.h"
#include "problem/json_fields.h"
#include "problem/shape.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostConfigBytes = 64 << 20;

json object_in(const json& config, const char* name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_object() ? *found : json::object();
}

}  // namespace

QuantisationConfig QuantisationConfig::beside(const fs::path& weights) {
  // What weights are called is not looked at.
  return weights.filename() == "config.json" ? QuantisationConfig() : in(weights.parent_path());
}

QuantisationConfig QuantisationConfig::in(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  ByteReader reader(path);
  if (reader.size() > kMostConfigBytes)
    fail(Blame::kInput, "{}: a config.json of {} bytes; a model's has at most {}", quoted(path),
         reader.size(), kMostConfigBytes);
  return QuantisationConfig(
      parse_object(reader.read_bytes(reader.size(), "the file"), quoted(path)));
}

QuantisationConfig::QuantisationConfig(const json& config)
    : mlx_(object_in(config, "quantization")), other_(object_in(config, "quantization_config")) {
  if (mlx_.empty() && other_.contains("group_size") && !other_.contains("quant_method"))
    mlx_ = other_;
}

std::optional<QuantisationConfig::Affine> QuantisationConfig::mlx(const std::string& module) const {
  const json own = object_in(mlx_, module.c_str());
  const auto number = [&](const char* name) -> std::uint64_t {
    for (const json* object : {&own, &mlx_})
      if (const auto found = object->find(name);
          found != object->end() && found->is_number_unsigned() && *found <= kMostDimension)
        return found->get<std::uint64_t>();
    return 0;
  };
  const Affine affine{static_cast<std::uint32_t>(number("bits")), number("group_size")};
  if (affine.bits == 0 || affine.group == 0) return std::nullopt;
  return affine;
}

bool QuantisationConfig::zeros_less_one() const {
  const auto found = other_.find("checkpoint_format");
  return found == other_.end() || *found != "gptq_v2";
}

}  // namespace tare::problem
