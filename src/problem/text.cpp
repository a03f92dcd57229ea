#include "problem/text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace tare::problem {
namespace {

namespace fs = std::filesystem;

// The stem of a shard, "model-00001-of-00004", says as little as that of the whole.
bool says_nothing(std::string_view stem) {
  constexpr std::array<std::string_view, 5> kGeneric = {"config", "model", "pytorch_model",
                                                        "consolidated", "adapter_model"};
  for (const std::string_view generic : kGeneric) {
    if (stem == generic || (stem.starts_with(generic) && stem.substr(generic.size())[0] == '-')) {
      return true;
    }
  }
  return stem.empty() || stem == "model.safetensors.index";
}

std::string name_from_folder(const fs::path& folder) {
  if (folder.parent_path().filename() == "snapshots") {
    const std::string cached = folder.parent_path().parent_path().filename().string();
    const std::size_t separator = cached.rfind("--");
    if (separator != std::string::npos) return cached.substr(separator + 2);
  }
  return folder.filename().string();
}

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  const bool cut = text.size() > most_bytes;
  const std::string kept(text.substr(0, most_bytes));
  const std::string escaped =
      nlohmann::json(kept).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return escaped.substr(1, escaped.size() - 2) + (cut ? "..." : "");
}

std::string quoted(const fs::path& path) {
  return fmt::format("'{}'", printable(path.string(), 4096));
}

std::string name_from_path(const fs::path& path) {
  const std::string stem = path.stem().string();
  if (!says_nothing(stem)) return printable(stem);
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  const std::string folder = name_from_folder(absolute.parent_path());
  return printable(folder.empty() ? stem : folder);
}

}  // namespace tare::problem
