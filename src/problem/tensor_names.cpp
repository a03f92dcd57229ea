#include "problem/tensor_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "problem/text.h"

namespace tare::problem {
namespace {

using Mapping = std::pair<std::string_view, std::string_view>;

// Ends of a module's name. The first that matches counts: "attention.output.dense" before
// "output.dense".
constexpr std::array<Mapping, 25> kModules = {{
    {"self_attn.q_proj", "q"},
    {"self_attn.k_proj", "k"},
    {"self_attn.v_proj", "v"},
    {"self_attn.o_proj", "o"},
    {"self_attn.out_proj", "o"},
    {"self_attn.qkv_proj", "qkv"},
    {"mlp.gate_proj", "gate"},
    {"mlp.up_proj", "up"},
    {"mlp.down_proj", "down"},
    {"mlp.gate_up_proj", "gate_up"},
    {"lm_head", "lm_head"},
    // Mistral's and Meta's own files.
    {"attention.wq", "q"},
    {"attention.wk", "k"},
    {"attention.wv", "v"},
    {"attention.wo", "o"},
    {"feed_forward.w1", "gate"},
    {"feed_forward.w3", "up"},
    {"feed_forward.w2", "down"},
    // BERT.
    {"attention.self.query", "q"},
    {"attention.self.key", "k"},
    {"attention.self.value", "v"},
    {"attention.output.dense", "o"},
    {"intermediate.dense", "up"},
    {"output.dense", "down"},
    {"embed_out", "lm_head"},
}};

constexpr std::array<Mapping, 9> kGgufBlock = {{
    {"attn_q", "q"},
    {"attn_k", "k"},
    {"attn_v", "v"},
    {"attn_output", "o"},
    {"attn_qkv", "qkv"},
    {"ffn_gate", "gate"},
    {"ffn_up", "up"},
    {"ffn_down", "down"},
    {"output", "lm_head"},
}};

// Modules that a text token does not pass through.
constexpr std::array<std::string_view, 7> kOtherSenses = {
    "vision_tower", "vision_model",          "visual",        "vision_embed_tokens",
    "audio_tower",  "multi_modal_projector", "img_projection"};

// What the last part of a weight's name may be: "weight", or what holds one in packed form.
constexpr std::array<std::string_view, 3> kWeightParts = {"weight", "qweight", "weight_packed"};

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// `module` ends with `ending`, at the beginning of a part.
bool ends_with_parts(std::string_view module, std::string_view ending) {
  if (!module.ends_with(ending)) return false;
  return module.size() == ending.size() || module[module.size() - ending.size() - 1] == '.';
}

bool is_expert(std::string_view module, const std::vector<std::string_view>& parts) {
  const bool inside = std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part == "experts" || part.starts_with("shared_expert");
  });
  return inside || ends_with_parts(module, "mlp.gate") || ends_with_parts(module, "mlp.router") ||
         ends_with_parts(module, "block_sparse_moe.gate");
}

bool is_lookup(const std::vector<std::string_view>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.find("emb") != std::string_view::npos || part == "wte" || part == "wpe" ||
           part == "shared" || part == "relative_attention_bias";
  });
}

// The last two parts that are no layer number: "pooler.dense" of "pooler.dense.weight".
std::string last_parts(const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> named;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(named),
               [](std::string_view part) { return !is_number(part); });
  if (named.empty()) return printable(parts.back(), 64);
  if (named.size() == 1) return printable(named.back(), 64);
  return fmt::format("{}.{}", printable(named[named.size() - 2], 64), printable(named.back(), 64));
}

TensorName projection(std::string_view name) {
  return {Role::kProjection, std::string(name)};
}

}  // namespace

TensorName read_safetensors_name(std::string_view name) {
  std::vector<std::string_view> parts = split(name);
  // A file of one nameless matrix ("w") is welcome; "q_proj.bias" or "q_proj.scales" is no weight.
  if (parts.size() > 1) {
    if (!is_one_of(parts.back(), kWeightParts)) {
      // Experts are also stored as one three-dimensional parameter without ".weight".
      return {is_expert(name, parts) ? Role::kExpert : Role::kOther, ""};
    }
    parts.pop_back();
    name = name.substr(0, name.rfind('.'));
  }
  for (const std::string_view part : parts) {
    if (is_one_of(part, kOtherSenses)) return {};
  }
  if (is_expert(name, parts)) return {Role::kExpert, ""};
  if (name == "output") return projection("lm_head");  // Mistral's and Meta's own files
  for (const auto& [ending, projection_name] : kModules) {
    if (ends_with_parts(name, ending)) return projection(projection_name);
  }
  if (parts.back() == "embed_tokens" || parts.back() == "tok_embeddings" || parts.back() == "wte") {
    return {Role::kEmbedding, ""};
  }
  if (is_lookup(parts)) return {};
  return projection(last_parts(parts));
}

TensorName read_gguf_name(std::string_view name, std::string_view architecture) {
  std::vector<std::string_view> parts = split(name);
  if (parts.back() != "weight") return {};
  parts.pop_back();
  if (parts.empty() || parts.front() == "v" || parts.front() == "a" || parts.front() == "mm") {
    return {};  // the vision and audio parts of a multimodal model, and what joins them to it
  }
  // Old mixtures store "blk.0.ffn_gate.7.weight", newer ones "blk.0.ffn_gate_exps.weight".
  if (is_number(parts.back()) && parts.size() > 2) return {Role::kExpert, ""};
  const std::string_view last = parts.back();
  if (last.ends_with("exps") || last.ends_with("_shexp") || last == "ffn_gate_inp" ||
      last == "ffn_gate_inp_shexp") {
    return {Role::kExpert, ""};
  }
  const bool encoder = architecture.find("bert") != std::string_view::npos;
  if (name == "token_embd.weight" && !encoder) return {Role::kEmbedding, ""};
  // Phi-3's ffn_up holds gate and up in one matrix.
  if (last == "ffn_up" && architecture == "phi3") return projection("gate_up");
  for (const auto& [part, projection_name] : kGgufBlock) {
    if (last == part) return projection(projection_name);
  }
  if (last.find("embd") != std::string_view::npos || last == "token_types" ||
      last == "attn_rel_b") {
    return {};
  }
  return projection(printable(last, 64));
}

}  // namespace tare::problem
