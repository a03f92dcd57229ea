// The date as files record it.
#pragma once

#include <string>

namespace tare::app {

std::string now_utc();  // "2026-11-30T12:00:00Z"

}  // namespace tare::app
