// The instruction sets of a machine by name.
#pragma once

#include <string>
#include <vector>

#include "device/machine.h"
#include "report/fields.h"

namespace tare::plan {

// Those that are usable, called as in a results file.
inline std::vector<std::string> isa_names(const device::Isa& isa) {
  std::vector<std::string> names;
  auto collect = [&](const char* name, bool usable) {
    if (usable) names.emplace_back(name);
  };
  report::visit_fields(collect, isa);
  return names;
}

}  // namespace tare::plan
