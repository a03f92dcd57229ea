#include "device/l2_set_aside.h"

#include <dlfcn.h>

#include <cstddef>

namespace tare::device {
namespace {

constexpr int kPersistingL2 = 6;  // CU_LIMIT_PERSISTING_L2_CACHE_SIZE

}  // namespace

std::uint64_t l2_set_aside_bytes(const std::string& driver) {
  void* library = dlopen(driver.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  auto* limit = reinterpret_cast<int (*)(std::size_t*, int)>(dlsym(library, "cuCtxGetLimit"));
  std::size_t bytes = 0;
  const bool told = limit != nullptr && limit(&bytes, kPersistingL2) == 0;
  dlclose(library);  // what loaded it keeps it
  return told ? bytes : 0;
}

}  // namespace tare::device
