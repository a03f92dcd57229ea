// The words a file uses for an enumeration: said once, for the writer and the reader. A word once
// used is never given another meaning.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace tare::records {

template <typename Enumeration, std::size_t Count>
using Words = std::array<std::pair<Enumeration, std::string_view>, Count>;

// "" when the value has no word.
template <typename Enumeration, std::size_t Count>
constexpr std::string_view word_for(const Words<Enumeration, Count>& words, Enumeration value) {
  for (const auto& [meaning, word] : words) {
    if (meaning == value) return word;
  }
  return {};
}

}  // namespace tare::records
