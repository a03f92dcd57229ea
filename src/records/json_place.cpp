#include "records/json_place.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "formats/weight_format.h"

namespace tare::records {

std::string path_to(const JsonPlace& place) {
  if (place.parent == nullptr) return {};
  const std::string before = path_to(*place.parent);
  if (place.name == nullptr) return fmt::format("{}[{}]", before, place.index);
  return before.empty() ? place.name : before + '.' + place.name;
}

std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

void wrong(const JsonPlace& place, const std::string& expected) {
  const std::string path = path_to(place);
  fail(Blame::kInput, "{} {}: it must be {}", path.empty() ? "it is" : "field '" + path + "' is",
       shown(place.value), expected);
}

JsonPlace member(const JsonPlace& parent, const char* name) {
  if (!parent.value.is_object()) wrong(parent, "an object");
  const auto found = parent.value.find(name);
  if (found == parent.value.end()) {
    fail(Blame::kInput, "field '{}' is missing", path_to({parent.value, &parent, name}));
  }
  return {*found, &parent, name};
}

JsonPlace element(const JsonPlace& list, std::size_t index) {
  return {list.value[index], &list, nullptr, index};
}

void require_list(const JsonPlace& place) {
  if (!place.value.is_array()) wrong(place, "a list");
}

void read(const JsonPlace& place, bool& into) {
  if (!place.value.is_boolean()) wrong(place, "true or false");
  into = place.value.get<bool>();
}

void read(const JsonPlace& place, std::uint64_t& into) {
  // A Json that was not parsed holds small numbers signed.
  const bool natural = place.value.is_number_unsigned() ||
                       (place.value.is_number_integer() && place.value.get<std::int64_t>() >= 0);
  if (!natural) wrong(place, "a whole number of at least 0");
  into = place.value.get<std::uint64_t>();
}

void read(const JsonPlace& place, std::uint32_t& into) {
  std::uint64_t wide = 0;
  read(place, wide);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (wide > kMost) wrong(place, fmt::format("at most {}", kMost));
  into = static_cast<std::uint32_t>(wide);
}

void read(const JsonPlace& place, double& into) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (place.value.is_number()) {
    into = place.value.get<double>();
  } else if (place.value.is_null()) {
    into = std::numeric_limits<double>::quiet_NaN();
  } else if (place.value == "inf") {
    into = kInfinity;
  } else if (place.value == "-inf") {
    into = -kInfinity;
  } else {
    wrong(place, "a number, null (not a number), \"inf\" or \"-inf\"");
  }
}

void read(const JsonPlace& place, std::string& into) {
  if (!place.value.is_string()) wrong(place, "a text");
  into = place.value.get<std::string>();
}

void read_element_type(const JsonPlace& place, std::uint32_t& into) {
  std::string word;
  read(place, word);
  into = formats::type_number(word);
  if (into == 0) wrong(place, "an element type, such as \"bf16\" or \"q4_k\"");
}

OrderedJson written_number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

OrderedJson written_element_type(std::uint32_t type) {
  const std::string_view word = formats::type_name(type);
  return word.empty() ? OrderedJson(type) : OrderedJson(word);
}

}  // namespace tare::records
