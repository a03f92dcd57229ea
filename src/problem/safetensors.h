// The .safetensors format: an 8-byte length, a JSON header of names, types, shapes and offsets,
// then the data. The format's own documentation and reference implementation are the source of the
// rules checked here.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "problem/byte_reader.h"
#include "problem/problem.h"
#include "problem/tensors.h"

namespace tare::problem {

// True when the first bytes of a file look like a length and the beginning of a header.
bool looks_like_safetensors(std::string_view first_bytes);

// The tensors of one file, by name, from its header alone. Every offset is checked against the
// file's size, every span against type and shape, and that the spans fill the data without hole or
// overlap. Throws tare::Error (Blame::kInput).
std::vector<Tensor> read_safetensors(ByteReader& file);

// The model in one .safetensors file.
Model model_from_safetensors(ByteReader& file);

// The model in the shards that a parsed model.safetensors.index.json names; they are opened beside
// it.
Model model_from_index(const nlohmann::json& index, const std::filesystem::path& path);

}  // namespace tare::problem
