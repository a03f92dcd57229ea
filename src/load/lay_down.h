// The weights of a file as tare/arm.h wants them: in place where the file's layout and alignment
// allow, else laid down once. Nothing is ever rounded: what cannot be had exactly is refused.
#pragma once

#include <cstdint>

#include "load/stored_matrix.h"

namespace tare::load {

// Where the file's own bytes are W[n, k] in the layout of `type` (plain numbers, GGUF blocks) and
// begin at a multiple of 64 bytes; else null. Good as long as the matrix.
const void* in_place(const StoredMatrix& matrix, std::uint32_t type);

// Fills `into`, layout_of(type, k, n).total_bytes long. Throws tare::Error (kInput), with what is
// in the way: other bits, groups that are too small, act-order, zeros that `type` has none for, a
// scale or a bias that is no number of its type.
void lay_down(const StoredMatrix& matrix, std::uint32_t type, void* into);

// Throws as lay_down() would; what it had laid down is thrown away.
void require_exact(const StoredMatrix& matrix, std::uint32_t type);

}  // namespace tare::load
