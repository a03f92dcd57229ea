#include "report/proof_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/line_reader.h"

namespace tare::report {
namespace {

using Json = nlohmann::json;

void check_header(const std::string& path, const FileLine& line) {
  const Json header = Json::parse(line.text, nullptr, false);
  if (!header.is_object() || header.value("schema", Json()) != Json(kProofSchema))
    fail(Blame::kInput,
         "'{}' is not a file of tare prove --json: its first line names no schema {}", path,
         kProofSchema);
}

}  // namespace

std::vector<prove::Certificate> read_proofs(const std::filesystem::path& path) {
  LineReader reader(path);
  std::vector<prove::Certificate> found;
  FileLine line;
  if (!reader.next(line)) fail(Blame::kInput, "'{}' is empty", path.string());
  check_header(path.string(), line);
  while (reader.next(line)) {
    const std::string where = fmt::format("'{}', line {}", path.string(), line.number);
    const Json json = Json::parse(line.text, nullptr, false);
    if (json.is_discarded()) fail(Blame::kInput, "{}: is no JSON", where);
    found.push_back(prove::certificate_from_json(json, where));
  }
  return found;
}

}  // namespace tare::report
