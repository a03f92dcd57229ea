// Memory as an arm host gives it: 64-byte aligned and zeroed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace tare::kernels {

inline void* heap_allocate(std::size_t bytes) {
  void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return memory;
}

inline void heap_release(void* memory) {
  std::free(memory);
}

}  // namespace tare::kernels
