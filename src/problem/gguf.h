// The GGUF format, versions 2 and 3: metadata, then the names, shapes, types and offsets of the
// tensors, then data. The specification in the ggml repository and the gguf Python package are the
// source of the rules checked here.
#pragma once

#include <string_view>

#include "problem/byte_reader.h"
#include "problem/problem.h"

namespace tare::problem {

bool looks_like_gguf(std::string_view first_bytes);

// The model in one GGUF file, from everything before its data. Every count, length, dimension and
// offset is checked against the size of the file. Throws tare::Error (Blame::kInput).
Model model_from_gguf(ByteReader& file);

}  // namespace tare::problem
