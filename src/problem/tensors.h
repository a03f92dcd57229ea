// The tensors of a model file, and the model that they make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "problem/quantisation_config.h"
#include "problem/storage.h"
#include "problem/tensor_names.h"

namespace tare::problem {

struct Tensor {
  std::string name;                  // as in the file: not fit to print
  TensorName meaning;                // what the name says, by the rules of that kind of file
  std::vector<std::uint64_t> shape;  // outermost first: {n, k} of W[n, k]
  std::string type;                  // "BF16", "Q4_K"
  // Several weights share an element, so that the shape is not that of the matrix.
  bool packed = false;
  Piece piece{};  // where it lies
};

// How much of the model the tensors are.
enum class Extent {
  kWhole,
  kPart,  // one shard of several: an lm_head that is not here may be elsewhere
};

// "model-00002-of-00004.safetensors" is a part, by the naming of transformers and of llama.cpp.
Extent extent_of(const std::filesystem::path& path);

// Adds the tensors' projections, weights_per_token and notes to `model`. Packed weights are read
// with what `config` says of them; what is not read is told in a note. Throws tare::Error
// (Blame::kInput), the sentence beginning with `where`, when no tensor is a projection or when a
// shape is beyond the limits.
void add_tensors(Model& model, const std::vector<Tensor>& tensors, Extent extent,
                 std::string_view where, const QuantisationConfig& config = {});

// `bytes` from `offset` on, of tensor `name`: what a file says about where its data lies.
struct Span {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string name;
};

// Throws tare::Error (Blame::kInput) when two spans overlap or one reaches past `size`. Sorts
// `spans` by offset.
void check_spans(std::vector<Span>& spans, std::uint64_t size, std::string_view where);

}  // namespace tare::problem
