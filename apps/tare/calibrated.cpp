#include "calibrated.h"

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/write_file.h"
#include "device/text_file.h"

namespace tare::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "tare.calibrated/1";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<Calibrated::Setting> settings_of(const std::vector<judge::CalibrationRow>& rows) {
  std::vector<Calibrated::Setting> settings;
  for (const judge::CalibrationRow& row : rows)
    if (row.watched > 0 && std::isfinite(row.smallest90))
      settings.push_back({row.setting, row.smallest90});
  return settings;
}

std::filesystem::path calibrated_path() {
  const std::filesystem::path cache = variable("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / "tare/calibration.json";
  const std::filesystem::path home = variable("HOME");
  return home.is_absolute() ? home / ".cache/tare/calibration.json" : std::filesystem::path();
}

Json to_json(const Calibrated& calibrated) {
  Json json = {{"schema", kSchema},
               {"date", calibrated.date},
               {"machine", calibrated.machine},
               {"seconds_per_row", calibrated.seconds_per_row},
               {"settings", Json::array()}};
  for (const Calibrated::Setting& setting : calibrated.settings)
    json["settings"].push_back({{"name", setting.name}, {"smallest", setting.smallest}});
  return json;
}

void save_calibrated(const std::filesystem::path& path, const Calibrated& calibrated) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const std::string text = to_json(calibrated).dump(2, ' ', false, Json::error_handler_t::replace);
  if (replace_file(path, text + '\n'))
    fail(Blame::kMachine,
         "cannot keep the calibration as '{}': name a folder you may write with XDG_CACHE_HOME, or "
         "leave --save out",
         path.string());
}

std::optional<Calibrated> load_calibrated(const std::filesystem::path& path) {
  const auto text = device::read_text(path);
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema") != kSchema) return std::nullopt;
    Calibrated calibrated{json.at("date"), json.at("machine"), json.at("seconds_per_row"), {}};
    for (const Json& setting : json.at("settings"))
      calibrated.settings.push_back({setting.at("name"), setting.at("smallest")});
    return calibrated;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tare::app
