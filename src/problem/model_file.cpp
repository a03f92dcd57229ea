// read_model: which kind of file it is, and who reads it.
#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "problem/byte_reader.h"
#include "problem/config.h"
#include "problem/gguf.h"
#include "problem/json_fields.h"
#include "problem/problem.h"
#include "problem/quantisation_config.h"
#include "problem/safetensors.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

namespace fs = std::filesystem;

// The largest published index, of a model of 91,991 tensors, has 9 MB; a config has a few KB.
constexpr std::uint64_t kMostJsonBytes = 64 << 20;

std::vector<fs::path> find_weight_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path extension = entry->path().extension();
    if (extension == ".gguf" || extension == ".safetensors") files.push_back(entry->path());
  }
  if (error) fail(Blame::kInput, "{}: cannot be listed: {}", quoted(folder), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

// Shapes come from config.json where there is one: it is small, and knows of a mixture of experts.
// But it does not say how quantised weights lie.
fs::path find_in_folder(const fs::path& folder, Want want) {
  fs::path config = folder / "config.json", index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  const bool has_config = fs::exists(config, ignored);
  const bool weights =
      want == Want::kWeights || (has_config && QuantisationConfig::in(folder).any());
  if (has_config && !weights) return config;
  if (fs::exists(index, ignored)) return index;
  const std::vector<fs::path> files = find_weight_files(folder);
  if (files.size() == 1) return files.front();
  if (has_config) return config;
  if (files.empty()) {
    fail(Blame::kInput,
         "{}: a folder without config.json, .safetensors or .gguf file; give a model's file",
         quoted(folder));
  }
  fail(Blame::kInput, "{}: a folder with {} model files; give one of them, for example {}",
       quoted(folder), files.size(), quoted(files.front()));
}

// Text that is no JSON, told apart where a person could wonder.
void reject_other_text(std::string_view first_bytes, const fs::path& path) {
  if (first_bytes.starts_with("version https://git-lfs")) {
    fail(Blame::kInput,
         "{}: a Git LFS pointer, not the file itself; run 'git lfs pull' where it was cloned",
         quoted(path));
  }
  if (first_bytes.starts_with("PK")) {
    fail(Blame::kInput,
         "{}: a zip or PyTorch archive; give the model's .safetensors file or its config.json",
         quoted(path));
  }
  const std::size_t first = first_bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || first_bytes[first] != '{') {
    fail(Blame::kInput, "{}: neither a JSON object nor a .safetensors or .gguf file", quoted(path));
  }
}

Model model_from_json(ByteReader& file) {
  if (file.size() > kMostJsonBytes) {
    fail(Blame::kInput, "{}: a JSON file of {} bytes; a model's config or index has at most {}",
         quoted(file.path()), file.size(), kMostJsonBytes);
  }
  const std::string where = quoted(file.path());
  const nlohmann::json object = parse_object(file.read_bytes(file.size(), "the file"), where);
  if (object.contains("weight_map")) return model_from_index(object, file.path());
  return model_from_config(object, where, name_from_path(file.path()));
}

Model read_file(ByteReader& file) {
  const std::string first_bytes = file.peek(64);
  if (first_bytes.empty()) fail(Blame::kInput, "{}: the file is empty", quoted(file.path()));
  if (looks_like_gguf(first_bytes)) return model_from_gguf(file);
  if (looks_like_safetensors(first_bytes)) return model_from_safetensors(file);
  reject_other_text(first_bytes, file.path());
  return model_from_json(file);
}

}  // namespace

Model read_model(const fs::path& path, Want want) {
  std::error_code ignored;
  ByteReader file(fs::is_directory(path, ignored) ? find_in_folder(path, want) : path);
  Model model = read_file(file);
  model.source = printable(file.path().string(), 4096);
  return model;
}

}  // namespace tare::problem
