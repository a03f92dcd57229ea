// A sentence for a caller across a C ABI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace tare {

// Writes `sentence` into the caller's buffer, cut to fit, always ended by NUL. Does nothing without
// a buffer. Thread-safe.
inline void write_reason(char* why, std::size_t why_size, std::string_view sentence) noexcept {
  if (why == nullptr || why_size == 0) return;
  const std::size_t length = std::min(sentence.size(), why_size - 1);
  std::memcpy(why, sentence.data(), length);
  why[length] = '\0';
}

}  // namespace tare
