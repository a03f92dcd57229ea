// Which kernels these are: what a plan that was made with one binary asks of another.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tare::kernels {

// 16 hexadecimal digits: a digest of the sources of the processor's kernels and of the formats they
// read, of the compiler and its flags (cmake/TareIdentity.cmake). Made when it is built, so nothing
// has to be remembered when a kernel changes.
extern const char* const kIdentity;

// "Tare 0.1.0 (kernels 0123456789abcdef)": how an arm that runs them names its library in the
// dispatch record, and what a plan holds on to.
inline std::string library_text(std::string_view version) {
  return fmt::format("Tare {} (kernels {})", version, kIdentity);
}

}  // namespace tare::kernels
