// What the name of a tensor in a model file says it is.
#pragma once

#include <string>
#include <string_view>

namespace tare::problem {

enum class Role {
  kProjection,  // a weight that decoding a token multiplies by
  kEmbedding,   // the token table: looked up, but also the lm_head of a model that has none of its
                // own
  kExpert,      // part of a mixture of experts: router, experts, shared expert
  kOther,       // looked up, added, normalised, or only read for an image or a sound
};

struct TensorName {
  Role role = Role::kOther;
  std::string projection;  // "q" ... "lm_head", else the last parts of the name, printable;
                           // kProjection only
};

// Names of PyTorch modules, as .safetensors files have them:
// "model.layers.3.self_attn.q_proj.weight" is q. Knows those of the Llama family, with q, k, v or
// gate and up fused, of Mistral's own files, and of BERT.
TensorName read_safetensors_name(std::string_view name);

// Names of GGUF: "blk.3.attn_q.weight" is q. `architecture` is general.architecture.
TensorName read_gguf_name(std::string_view name, std::string_view architecture);

}  // namespace tare::problem
