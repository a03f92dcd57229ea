// What a config.json beside weights says of how they were quantised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tare::problem {

// Asked where the shapes of the weights do not tell.
class QuantisationConfig {
 public:
  QuantisationConfig() = default;  // there is none
  // Throw tare::Error (kInput) where a config.json is there and is no JSON object.
  static QuantisationConfig in(const std::filesystem::path& folder);
  static QuantisationConfig beside(const std::filesystem::path& weights);
  explicit QuantisationConfig(const nlohmann::json& config);

  // False where the weights are not quantised, as far as it says.
  bool any() const { return !mlx_.empty() || !other_.empty(); }

  struct Affine {
    std::uint32_t bits = 0;
    std::uint64_t group = 0;
  };
  // MLX's bits and group of a module: its own, or those of all. Nothing where it does not say, or
  // where it has another mode than "affine".
  std::optional<Affine> mlx(const std::string& module) const;
  // GPTQ's zeros are stored less one, unless it says "gptq_v2".
  bool zeros_less_one() const;

 private:
  nlohmann::json mlx_ = nlohmann::json::object();
  nlohmann::json other_ = nlohmann::json::object();
};

}  // namespace tare::problem
