#include "report/digest.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/hash128.h"

namespace tare::report {
namespace {

constexpr int kDeepest = 32;
// Up to here every whole number is a double.
constexpr std::uint64_t kExact = std::uint64_t{1} << 53;

// Feeds the canonical bytes of values to the hash. Every value starts with the letter of its kind,
// and what has no fixed length with its length, so that no two values have the same bytes.
class CanonicalBytes {
 public:
  void add(const Json& value, int depth = 0) {
    if (depth > kDeepest)
      fail(Blame::kInput, "it is nested deeper than {} levels, which no line of ours is", kDeepest);
    switch (value.type()) {
      case Json::value_t::object:
        return add_object(value, depth);
      case Json::value_t::array:
        return add_list(value, depth);
      case Json::value_t::string:
        return add_text(value.get_ref<const std::string&>());
      case Json::value_t::boolean:
        return letter(value.get<bool>() ? 't' : 'f');
      case Json::value_t::number_integer:
      case Json::value_t::number_unsigned:
        return add_whole(value);
      case Json::value_t::number_float:
        return add_double(value.get<double>());
      default:
        return letter('n');
    }
  }

  std::string hexadecimal() const { return hash_.hexadecimal(); }

 private:
  void add_object(const Json& object, int depth) {
    letter('{');
    number(object.size());
    // A Json keeps its names in ascending order of their bytes.
    for (const auto& [name, value] : object.items()) {
      add_text(name);
      add(value, depth + 1);
    }
  }

  void add_list(const Json& list, int depth) {
    letter('[');
    number(list.size());
    for (const Json& value : list) add(value, depth + 1);
  }

  void add_text(std::string_view text) {
    letter('s');
    number(text.size());
    bytes(text.data(), text.size());
  }

  void add_whole(const Json& value) {
    const bool exact = value.is_number_unsigned()
                           ? value.get<std::uint64_t>() <= kExact
                           : value.get<std::int64_t>() >= -static_cast<std::int64_t>(kExact);
    if (exact) return add_double(value.get<double>());
    letter('u');
    number(value.get<std::uint64_t>());
  }

  void add_double(double value) {
    letter('d');
    number(std::bit_cast<std::uint64_t>(value));
  }

  void letter(char kind) { bytes(&kind, 1); }

  void number(std::uint64_t value) {
    std::array<char, sizeof value> little_endian{};
    for (char& byte : little_endian) {
      byte = static_cast<char>(value & 0xff);
      value >>= 8;
    }
    bytes(little_endian.data(), little_endian.size());
  }

  void bytes(const char* data, std::size_t count) { hash_.add(data, count); }

  Hash128 hash_;
};

Json without_digest(const Json& line) {
  Json rest = line;
  rest.erase("digest");
  return rest;
}

Json member_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : *found;
}

}  // namespace

std::string digest(const Json& value) {
  CanonicalBytes canonical;
  canonical.add(value);
  return canonical.hexadecimal();
}

std::string header_digest(const Json& header) {
  return digest(without_digest(header));
}

Json row_digests(const Json& row) {
  const auto weighing = row.find("weighing");
  if (weighing == row.end() || !weighing->is_object()) return Json::object();
  Json settings = Json::object();
  Json digests = Json::object();
  for (const auto& [name, value] : weighing->items()) {
    if (value.is_structured()) {
      digests[name] = digest(value);
    } else {
      settings[name] = value;
    }
  }
  digests["settings"] = digest(settings);
  digests["screened"] = digest(member_of(row, "screened"));
  Json whole = digests;
  whole["model"] = member_of(row, "model");
  whole["projection"] = member_of(row, "projection");
  digests["row"] = digest(whole);
  return digests;
}

std::string footer_digest(const Json& footer, const std::vector<std::string>& lines) {
  return digest(Json::array({lines, without_digest(footer)}));
}

}  // namespace tare::report
