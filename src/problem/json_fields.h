// JSON that a stranger wrote: parsed, and its fields read, with sentences that say where it is
// wrong.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tare::problem {

// Throws tare::Error (Blame::kInput), the sentence beginning with `where`, when `text` is not one
// JSON object.
nlohmann::json parse_object(std::string_view text, std::string_view where);

// The fields of one JSON object, which must outlive this. A field that is null counts as absent, as
// it does in transformers. Every function throws tare::Error (Blame::kInput) naming `where` and the
// field.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  bool has(const char* name) const { return find(name) != nullptr; }

  // A whole number from 1 to `most`.
  std::uint64_t whole(const char* name, std::uint64_t most) const;
  std::optional<std::uint64_t> whole_if_any(const char* name, std::uint64_t most) const;
  // As whole_if_any, but zero is allowed.
  std::optional<std::uint64_t> count_if_any(const char* name, std::uint64_t most) const;

  std::optional<std::string> text_if_any(const char* name) const;
  std::optional<bool> flag_if_any(const char* name) const;
  std::optional<Fields> object_if_any(const char* name) const;

 private:
  const nlohmann::json* find(const char* name) const;
  std::optional<std::uint64_t> number(const char* name, std::uint64_t least,
                                      std::uint64_t most) const;
  [[noreturn]] void reject(const char* name, std::string_view must,
                           const nlohmann::json& value) const;

  const nlohmann::json& object_;
  std::string where_;
};

}  // namespace tare::problem
