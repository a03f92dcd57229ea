#include "problem/config.h"

#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "problem/json_fields.h"
#include "problem/projections.h"
#include "problem/shape.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

constexpr std::uint64_t kMostLayers = 65536;
constexpr std::uint64_t kMostExperts = 1 << 20;

// What one architecture takes where its config.json is silent, from the configuration classes of
// transformers 4.50; 0 where the file must say (head_dim: then hidden / heads). Published Gemma 3
// configs do leave out heads, head_dim and vocab_size, and rely on these.
struct Architecture {
  std::string_view model_type;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_dim = 0;
  std::uint64_t vocab = 0;
  bool kv_heads_as_heads = false;  // as many key-value heads as heads
  bool fused = false;              // one matrix for q, k, v and one for gate and up
  bool qkv_biases = false;         // of q, k and v, whatever the fields say
  bool experts = false;            // a mixture of experts, whatever the fields say
};

constexpr std::array<Architecture, 11> kArchitectures = {{
    {.model_type = "gemma2", .heads = 8, .kv_heads = 4, .head_dim = 256, .vocab = 256000},
    {.model_type = "gemma3", .heads = 8, .kv_heads = 4, .head_dim = 256, .vocab = 262208},
    {.model_type = "gemma3_text", .heads = 8, .kv_heads = 4, .head_dim = 256, .vocab = 262208},
    {.model_type = "llama", .kv_heads_as_heads = true},
    {.model_type = "mistral"},
    {.model_type = "mixtral", .experts = true},
    {.model_type = "phi3", .kv_heads_as_heads = true, .fused = true},
    {.model_type = "qwen2", .qkv_biases = true},
    {.model_type = "qwen2_moe", .qkv_biases = true, .experts = true},
    {.model_type = "qwen3", .head_dim = 128},
    {.model_type = "qwen3_moe", .experts = true},
}};

struct Dimensions {
  std::uint64_t hidden = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_dim = 0;
  std::uint64_t intermediate = 0;  // 0 in a mixture of experts, whose dense part is not listed
  std::uint64_t vocab = 0;
  std::uint64_t layers = 0;
};

const Architecture& find_architecture(const std::optional<std::string>& model_type,
                                      std::string_view where) {
  std::vector<std::string_view> known;
  for (const Architecture& architecture : kArchitectures) {
    if (model_type && architecture.model_type == *model_type) return architecture;
    known.push_back(architecture.model_type);
  }
  if (!model_type) {
    fail(Blame::kInput, "{}: field 'model_type' is missing: not a model's config.json", where);
  }
  fail(Blame::kInput,
       "{}: model_type '{}' is not one whose config Tare reads ({}); give the model's weights "
       "(.safetensors, .gguf) instead",
       where, printable(*model_type, 64), fmt::join(known, ", "));
}

// A field, or what the architecture takes for it; an error when neither says.
std::uint64_t whole_or(const Fields& fields, const char* name, std::uint64_t silent) {
  if (!fields.has(name) && silent != 0) return silent;
  return fields.whole(name, kMostDimension);
}

std::uint64_t read_kv_heads(const Fields& fields, const Architecture& architecture,
                            std::uint64_t heads) {
  const std::uint64_t silent = architecture.kv_heads_as_heads ? heads : architecture.kv_heads;
  const std::uint64_t kv_heads = whole_or(fields, "num_key_value_heads", silent);
  if (heads % kv_heads != 0) {
    fail(Blame::kInput,
         "{}: field 'num_key_value_heads', {}, does not divide 'num_attention_heads', {}",
         fields.where(), kv_heads, heads);
  }
  return kv_heads;
}

std::uint64_t read_head_dim(const Fields& fields, const Architecture& architecture,
                            const Dimensions& read) {
  if (fields.has("head_dim")) return fields.whole("head_dim", kMostDimension);
  if (architecture.head_dim != 0) return architecture.head_dim;
  if (read.hidden % read.heads != 0) {
    fail(Blame::kInput,
         "{}: field 'num_attention_heads', {}, does not divide 'hidden_size', {}, and there is no "
         "'head_dim'",
         fields.where(), read.heads, read.hidden);
  }
  return read.hidden / read.heads;
}

Dimensions read_dimensions(const Fields& fields, const Architecture& architecture, bool experts) {
  Dimensions read;
  read.hidden = fields.whole("hidden_size", kMostDimension);
  read.layers = fields.whole("num_hidden_layers", kMostLayers);
  read.heads = whole_or(fields, "num_attention_heads", architecture.heads);
  read.kv_heads = read_kv_heads(fields, architecture, read.heads);
  read.head_dim = read_head_dim(fields, architecture, read);
  read.vocab = whole_or(fields, "vocab_size", architecture.vocab);
  if (!experts) read.intermediate = fields.whole("intermediate_size", kMostDimension);
  return read;
}

// Says how many experts there are; 0 and 1 are how dense models of a family write "none".
bool has_experts(const Fields& fields, const Architecture& architecture) {
  for (const char* const name : {"num_experts", "num_local_experts"}) {
    if (fields.count_if_any(name, kMostExperts).value_or(0) > 1) return true;
  }
  return architecture.experts;
}

// Which projections have a bias. Their type no config says: bf16, as the weights are weighed then.
struct HasBiases {
  bool qkv = false, o = false, feed_forward = false;
};

HasBiases read_biases(const Fields& fields, const Architecture& architecture) {
  const bool attention = fields.flag_if_any("attention_bias").value_or(false);
  return {attention || architecture.qkv_biases, attention && !architecture.qkv_biases,
          fields.flag_if_any("mlp_bias").value_or(false)};
}

class Shapes {
 public:
  explicit Shapes(std::string_view where) : where_(where) {}

  void add(std::string_view name, std::uint64_t k, std::uint64_t n, std::uint64_t layers,
           bool biased) {
    check_shape(k, n, fmt::format("{}: projection '{}'", where_, name));
    list_.add(name, k, n, layers, "", biased ? std::uint32_t{TARE_BF16} : 0U);
  }
  void add_head(std::uint64_t k, std::uint64_t n) {
    check_shape(k, n, fmt::format("{}: projection 'lm_head'", where_));
    list_.add({"lm_head", std::nullopt, k, n, ""});
  }
  const ProjectionList& list() const { return list_; }

 private:
  std::string where_;
  ProjectionList list_;
};

void add_attention(Shapes& shapes, const Dimensions& d, bool fused, const HasBiases& has) {
  const std::uint64_t q = d.heads * d.head_dim;
  const std::uint64_t kv = d.kv_heads * d.head_dim;
  if (fused) {
    shapes.add("qkv", d.hidden, q + 2 * kv, d.layers, has.qkv);
  } else {
    shapes.add("q", d.hidden, q, d.layers, has.qkv);
    shapes.add("k", d.hidden, kv, d.layers, has.qkv);
    shapes.add("v", d.hidden, kv, d.layers, has.qkv);
  }
  shapes.add("o", q, d.hidden, d.layers, has.o);
}

void add_feed_forward(Shapes& shapes, const Dimensions& d, bool fused, bool biased) {
  if (fused) {
    shapes.add("gate_up", d.hidden, 2 * d.intermediate, d.layers, biased);
  } else {
    shapes.add("gate", d.hidden, d.intermediate, d.layers, biased);
    shapes.add("up", d.hidden, d.intermediate, d.layers, biased);
  }
  shapes.add("down", d.intermediate, d.hidden, d.layers, biased);
}

std::string name_in(const Fields& fields, std::string_view otherwise) {
  const std::string given = fields.text_if_any("_name_or_path").value_or("");
  // "Qwen/Qwen3-8B" or somebody's folder: the last part names it. "." and ".." do not.
  const std::string last = std::filesystem::path(given).filename().string();
  return last.empty() || last == "." || last == ".." ? std::string(otherwise) : printable(last);
}

}  // namespace

Model model_from_config(const nlohmann::json& config, std::string_view where,
                        std::string_view name) {
  const Fields whole_config(config, std::string(where));
  const std::optional<Fields> text = whole_config.object_if_any("text_config");
  const Fields& fields = text ? *text : whole_config;
  const std::optional<std::string> outer_type = whole_config.text_if_any("model_type");
  const std::optional<std::string> own_type = fields.text_if_any("model_type");
  const Architecture& architecture = find_architecture(own_type ? own_type : outer_type, where);
  // Tied or not, decoding a token reads the head's matrix once; only the field's type can be wrong.
  fields.flag_if_any("tie_word_embeddings");
  const bool experts = has_experts(fields, architecture);
  const Dimensions dimensions = read_dimensions(fields, architecture, experts);

  Shapes shapes{where};
  const HasBiases has = read_biases(fields, architecture);
  add_attention(shapes, dimensions, architecture.fused, has);
  if (!experts) add_feed_forward(shapes, dimensions, architecture.fused, has.feed_forward);
  shapes.add_head(dimensions.hidden, dimensions.vocab);

  Model model;
  model.name = name_in(whole_config, name);
  model.projections = shapes.list().merged();
  model.matrices = shapes.list().in_order();
  model.weights_per_token = shapes.list().elements();
  if (experts) model.notes.emplace_back(kExpertsNote);
  if (text) {
    model.notes.push_back(
        fmt::format("multimodal ({}): only the text model's projections are listed",
                    printable(outer_type.value_or("text_config"), 64)));
  }
  return model;
}

}  // namespace tare::problem
