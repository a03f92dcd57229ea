// What a process's CUDA context keeps of the GPU's L2 for itself.
#pragma once

#include <cstdint>
#include <string>

namespace tare::device {

// Bytes of the L2 that the context of the calling thread keeps for lines that persist
// (cudaLimitPersistingL2CacheSize): what lies there outlives whatever is read between. 0 where this
// process has not loaded the driver's library, or it does not tell.
std::uint64_t l2_set_aside_bytes(const std::string& driver = "libcuda.so.1");

}  // namespace tare::device
