#include "plants.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tare::planted {
namespace {

// The number behind "key="; false when it is not there.
template <typename Number>
bool read(std::string_view text, std::string_view key, Number& number) {
  const std::size_t at = text.find(fmt::format(" {}=", key));
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + key.size() + 2);
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
}

}  // namespace

const Plant* find_plant(std::string_view name) {
  const auto* const found = std::ranges::find(kPlants, name, &Plant::name);
  return found == kPlants.end() ? nullptr : found;
}

std::string to_text(const Plant& plant, const Spent& spent) {
  return fmt::format("{}: spent region={:.9g} dispatch={:.9g} share={:.9g} dispatches={}",
                     plant.name, spent.region_seconds, spent.dispatch_seconds, spent.share,
                     spent.dispatches);
}

std::optional<Spent> parse_spent(std::string_view configuration) {
  Spent spent;
  const bool whole = read(configuration, "region", spent.region_seconds) &&
                     read(configuration, "dispatch", spent.dispatch_seconds) &&
                     read(configuration, "share", spent.share) &&
                     read(configuration, "dispatches", spent.dispatches);
  if (!whole) return std::nullopt;
  return spent;
}

}  // namespace tare::planted
