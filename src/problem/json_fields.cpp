#include "problem/json_fields.h"

#include <algorithm>

#include "base/error.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

using nlohmann::json;

// The library's own sentence quotes raw bytes of the file; this one says only where.
[[noreturn]] void reject_syntax(std::string_view text, std::size_t byte, std::string_view where) {
  if (byte > text.size()) {
    fail(Blame::kInput, "{}: not JSON: it ends, at byte {}, before it is complete", where,
         text.size());
  }
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  fail(Blame::kInput, "{}: not JSON: syntax error at line {}, column {}", where, line,
       before.size() - line_begin + 1);
}

}  // namespace

json parse_object(std::string_view text, std::string_view where) {
  try {
    json value = json::parse(text.begin(), text.end());
    if (!value.is_object()) {
      fail(Blame::kInput, "{}: must be a JSON object, {{...}}, not a JSON {}", where,
           value.type_name());
    }
    return value;
  } catch (const json::parse_error& error) {
    reject_syntax(text, error.byte, where);
  } catch (const json::exception&) {  // a number beyond a double
    fail(Blame::kInput, "{}: not JSON that can be read: a number in it is too large", where);
  }
}

const json* Fields::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void Fields::reject(const char* name, std::string_view must, const json& value) const {
  const std::string shown =
      value.is_structured()
          ? fmt::format("an {}", value.type_name())
          : printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 64);
  fail(Blame::kInput, "{}: field '{}' must be {}, not {}", where_, name, must, shown);
}

std::optional<std::uint64_t> Fields::number(const char* name, std::uint64_t least,
                                            std::uint64_t most) const {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  // A negative number is is_number_integer() but not is_number_unsigned(); one beyond 64 bits is a
  // float.
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() < least ||
      value->get<std::uint64_t>() > most) {
    reject(name, fmt::format("a whole number from {} to {}", least, most), *value);
  }
  return value->get<std::uint64_t>();
}

std::uint64_t Fields::whole(const char* name, std::uint64_t most) const {
  const std::optional<std::uint64_t> value = number(name, 1, most);
  if (!value) fail(Blame::kInput, "{}: field '{}' is missing", where_, name);
  return *value;
}

std::optional<std::uint64_t> Fields::whole_if_any(const char* name, std::uint64_t most) const {
  return number(name, 1, most);
}

std::optional<std::uint64_t> Fields::count_if_any(const char* name, std::uint64_t most) const {
  return number(name, 0, most);
}

std::optional<std::string> Fields::text_if_any(const char* name) const {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) reject(name, "a string", *value);
  return value->get<std::string>();
}

std::optional<bool> Fields::flag_if_any(const char* name) const {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) reject(name, "true or false", *value);
  return value->get<bool>();
}

std::optional<Fields> Fields::object_if_any(const char* name) const {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) reject(name, "an object", *value);
  return Fields(*value, fmt::format("{}: in '{}'", where_, name));
}

}  // namespace tare::problem
