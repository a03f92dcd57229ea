// A value in a JSON file that may have been edited or damaged, and what it must be. Every function
// throws tare::Error (kInput) with a sentence that names the field: "field 'keys.isa[2]' is 3: it
// must be a text". Thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "records/words.h"

namespace tare::records {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// A value and the way to it, which is put into words only where something is wrong: a file may hold
// millions of values. A place refers to its parent, which must outlive it.
struct JsonPlace {
  const Json& value;
  const JsonPlace* parent = nullptr;  // null: the whole
  const char* name = nullptr;         // null: element `index` of a list
  std::size_t index = 0;
};

std::string path_to(const JsonPlace& place);  // "weighing.arms[1].role"; "" for the whole
std::string shown(const Json& value);         // in a sentence: short, whatever the file holds
[[noreturn]] void wrong(const JsonPlace& place, const std::string& expected);

JsonPlace member(const JsonPlace& parent, const char* name);
JsonPlace element(const JsonPlace& list, std::size_t index);
void require_list(const JsonPlace& place);

void read(const JsonPlace& place, bool& into);
void read(const JsonPlace& place, std::uint64_t& into);
void read(const JsonPlace& place, std::uint32_t& into);
void read(const JsonPlace& place, double& into);  // as written_number() wrote it
void read(const JsonPlace& place, std::string& into);
void read_element_type(const JsonPlace& place, std::uint32_t& into);  // of arm.h, by its name

template <typename Enumeration, std::size_t Count>
void read_word(const JsonPlace& place, const Words<Enumeration, Count>& words, Enumeration& into) {
  std::string expected;
  for (const auto& [meaning, word] : words) {
    if (place.value == word) {
      into = meaning;
      return;
    }
    expected += std::string(expected.empty() ? "one of \"" : ", \"") + std::string(word) + "\"";
  }
  wrong(place, expected);
}

// JSON has neither: null is not a number, "inf" and "-inf" are infinite.
OrderedJson written_number(double value);

// By its name; by its number where it has none.
OrderedJson written_element_type(std::uint32_t type);

}  // namespace tare::records
