// Packed weights of .safetensors files: what the tensors of one module, its codes, scales, zeros,
// say of its matrix.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "problem/quantisation_config.h"
#include "problem/storage.h"
#include "problem/tensors.h"

namespace tare::problem {

// A matrix that is stored packed.
struct PackedMatrix {
  std::uint64_t k = 0, n = 0;
  Storage storage;
  std::string unread;  // why it is not read, a sentence's end: "its scales are missing"; else empty
};

using TensorsByName = std::map<std::string, const Tensor*, std::less<>>;

// The matrix whose codes are `codes`; nothing where the tensor is not packed in a way of kMlx to
// kInt8. Reads small tensors of the file (shapes, zeros, the order of act-order). Throws
// tare::Error (kInput) where the file is too short for them.
std::optional<PackedMatrix> read_packed(const Tensor& codes, const TensorsByName& tensors,
                                        const QuantisationConfig& config);

}  // namespace tare::problem
