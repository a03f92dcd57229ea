// A small model of random weights that llama.cpp runs: two layers of the llama architecture, and a
// vocabulary of bytes. What the tests of engines are driven with where no real model is there.
//
// usage: synthetic_model FILE [PROJECTION=TYPE...]   e.g. q=q4_k lm_head=q8_0; others are bf16
// Projections are q k v o gate up down lm_head; shapes below. The same file every time.
#include <ggml.h>
#include <gguf.h>
#include <strings.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kWidth = 256, kInner = 512, kHeads = 4, kKvHeads = 2, kLayers = 2;
constexpr std::int64_t kKvWidth = kWidth / kHeads * kKvHeads;
constexpr int kBytes = 256, kSpecial = 3;  // <unk>, <s>, </s>, and a token for every byte
constexpr std::int64_t kVocabulary = 320;  // the rest is never said
constexpr std::uint32_t kSeed = 20240607;

using Types = std::map<std::string, ggml_type>;

ggml_type type_called(const std::string& name) {
  for (int type = 0; type < GGML_TYPE_COUNT; ++type)
    if (const auto one = static_cast<ggml_type>(type);
        ggml_type_name(one) != nullptr && strcasecmp(ggml_type_name(one), name.c_str()) == 0)
      return one;
  std::fprintf(stderr, "synthetic_model: no type '%s'\n", name.c_str());
  std::exit(2);
}

class File {
 public:
  explicit File(Types types)
      : types_(std::move(types)),
        file_(gguf_init_empty(), gguf_free),
        context_(ggml_init({std::size_t{64} << 20, nullptr, false}), ggml_free),
        random_(kSeed) {}

  void describe() {
    gguf_set_val_str(file_.get(), "general.architecture", "llama");
    gguf_set_val_str(file_.get(), "general.name", "synthetic");
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"llama.context_length", 8192},
        {"llama.embedding_length", kWidth},
        {"llama.block_count", kLayers},
        {"llama.feed_forward_length", kInner},
        {"llama.attention.head_count", kHeads},
        {"llama.attention.head_count_kv", kKvHeads},
        {"llama.rope.dimension_count", kWidth / kHeads},
        {"llama.vocab_size", kVocabulary},
        {"tokenizer.ggml.bos_token_id", 1},
        {"tokenizer.ggml.eos_token_id", 2},
        {"tokenizer.ggml.unknown_token_id", 0}};
    for (const auto& [key, value] : numbers)
      gguf_set_val_u32(file_.get(), key, static_cast<std::uint32_t>(value));
    gguf_set_val_f32(file_.get(), "llama.attention.layer_norm_rms_epsilon", 1e-5F);
    describe_tokens();
  }

  // Weights of variance 1 / k: numbers keep their size from layer to layer.
  void add(const std::string& name, const std::string& projection, std::int64_t k, std::int64_t n) {
    const auto asked = types_.find(projection);
    const ggml_type type = asked == types_.end() ? GGML_TYPE_BF16 : asked->second;
    std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(k)));
    std::vector<float> weights(static_cast<std::size_t>(k * n));
    for (float& one : weights) one = normal(random_);
    ggml_tensor* tensor = ggml_new_tensor_2d(context_.get(), type, k, n);
    ggml_quantize_chunk(type, weights.data(), tensor->data, 0, n, k, nullptr);
    put(tensor, name);
  }

  void add_norm(const std::string& name) {
    ggml_tensor* tensor = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, kWidth);
    std::fill_n(static_cast<float*>(tensor->data), kWidth, 1.0F);
    put(tensor, name);
  }

  bool write(const char* path) { return gguf_write_to_file(file_.get(), path, false); }

 private:
  void put(ggml_tensor* tensor, const std::string& name) {
    ggml_set_name(tensor, name.c_str());
    gguf_add_tensor(file_.get(), tensor);
  }

  void describe_tokens() {
    enum Kind : std::int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUnused = 5, kByte = 6 };
    std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
    std::vector<std::int32_t> kinds{kUnknown, kControl, kControl};
    for (int byte = 0; byte < kBytes; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
      tokens.emplace_back(name);
      kinds.push_back(kByte);
    }
    for (std::int64_t i = kSpecial + kBytes; i < kVocabulary; ++i) {
      tokens.push_back("unused" + std::to_string(i));
      kinds.push_back(kUnused);
    }
    const std::vector<float> scores(tokens.size(), 0);
    std::vector<const char*> texts;
    for (const std::string& token : tokens) texts.push_back(token.c_str());
    gguf_set_val_str(file_.get(), "tokenizer.ggml.model", "llama");
    gguf_set_arr_str(file_.get(), "tokenizer.ggml.tokens", texts.data(), texts.size());
    gguf_set_arr_data(file_.get(), "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(),
                      scores.size());
    gguf_set_arr_data(file_.get(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(),
                      kinds.size());
  }

  Types types_;
  std::unique_ptr<gguf_context, decltype(&gguf_free)> file_;
  std::unique_ptr<ggml_context, decltype(&ggml_free)> context_;
  std::mt19937 random_;
};

void add_layer(File& file, std::int64_t layer) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  file.add_norm(prefix + "attn_norm.weight");
  file.add(prefix + "attn_q.weight", "q", kWidth, kWidth);
  file.add(prefix + "attn_k.weight", "k", kWidth, kKvWidth);
  file.add(prefix + "attn_v.weight", "v", kWidth, kKvWidth);
  file.add(prefix + "attn_output.weight", "o", kWidth, kWidth);
  file.add_norm(prefix + "ffn_norm.weight");
  file.add(prefix + "ffn_gate.weight", "gate", kWidth, kInner);
  file.add(prefix + "ffn_up.weight", "up", kWidth, kInner);
  file.add(prefix + "ffn_down.weight", "down", kInner, kWidth);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  Types types;
  for (int i = 2; i < count; ++i) {
    const char* const equals = std::strchr(arguments[i], '=');
    if (equals == nullptr) return 2;
    types[std::string(arguments[i], static_cast<std::size_t>(equals - arguments[i]))] =
        type_called(equals + 1);
  }
  File file(std::move(types));
  file.describe();
  file.add("token_embd.weight", "embedding", kWidth, kVocabulary);
  for (std::int64_t layer = 0; layer < kLayers; ++layer) add_layer(file, layer);
  file.add_norm("output_norm.weight");
  file.add("output.weight", "lm_head", kWidth, kVocabulary);
  return file.write(arguments[1]) ? 0 : 1;
}
