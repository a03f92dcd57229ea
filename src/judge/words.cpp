#include "judge/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tare::judge {
namespace {

struct Unit {
  double size;
  const char* name;
};

// Three significant digits without an exponent: "198", "25.1", "1.29".
std::string digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

template <std::size_t Count>
std::string in_units(double value, const std::array<Unit, Count>& descending) {
  for (const Unit& unit : descending)
    if (std::fabs(value) >= 0.9995 * unit.size)
      return fmt::format("{} {}", digits(value / unit.size), unit.name);
  return fmt::format("{} {}", digits(value / descending.back().size), descending.back().name);
}

}  // namespace

std::string duration(double seconds) {
  return in_units(seconds,
                  std::array<Unit, 4>{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}});
}

std::string percent(double share) {
  const double value = share * 100;
  const double size = std::fabs(value);
  if (size >= 9.95) return fmt::format("{:.0f} %", value);
  if (size >= 0.995) return fmt::format("{:.1f} %", value);
  return fmt::format("{:.2f} %", value);
}

std::string bytes(double count) {
  return in_units(count,
                  std::array<Unit, 4>{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}}});
}

}  // namespace tare::judge
