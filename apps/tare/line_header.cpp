#include "line_header.h"

#include <nlohmann/json.hpp>

#include "clock.h"

namespace tare::app {

nlohmann::json line_header(std::string_view schema, const std::vector<std::string>& command,
                           std::string_view machine) {
  return {{"kind", "header"},  {"schema", schema},   {"tare_version", TARE_VERSION},
          {"date", now_utc()}, {"command", command}, {"machine", machine}};
}

}  // namespace tare::app
