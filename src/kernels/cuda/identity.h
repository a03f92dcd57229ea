// Which kernels these are, as kernels/identity.h says it of the processor's.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tare::kernels {

// A digest of the sources under cuda/ and of the formats they read, of the compilers and the flags.
extern const char* const kCudaIdentity;

namespace cuda {

inline std::string library_text(std::string_view version) {
  return fmt::format("Tare {} (CUDA kernels {})", version, kCudaIdentity);
}

}  // namespace cuda
}  // namespace tare::kernels
