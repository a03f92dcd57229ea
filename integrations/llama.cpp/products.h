// ggml's matrix products as Tare's problems.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <optional>

#include "tare/arm.h"

namespace tare::llama {

// The number in tare/arm.h of a type of weights that the kernels know; 0 for others.
std::uint32_t type_of(ggml_type type);

// W of a MUL_MAT, or of a question whether one would be taken: the problem without its rows.
// Nothing where it is no plain 2-D matrix of such a type.
std::optional<tare_problem> matrix_of(const ggml_tensor* weights);

// The problem of a node; nothing where the node is no product of one matrix W[n, k] with dense f32
// rows into dense f32.
std::optional<tare_problem> problem_of(const ggml_tensor* node);

}  // namespace tare::llama
