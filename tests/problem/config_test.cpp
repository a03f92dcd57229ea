#include "problem/config.h"

#include "problem/json_fields.h"
#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

Model read(const std::string& text) {
  return model_from_config(parse_object(text, "'c'"), "'c'", "fallback");
}

// A valid config with one field set to `value`, or left out when that is empty.
std::string with(const std::string& field, const std::string& value,
                 const std::string& model_type = "qwen2") {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"model_type", fmt::format("\"{}\"", model_type)},
      {"hidden_size", "1536"},
      {"intermediate_size", "8960"},
      {"num_attention_heads", "12"},
      {"num_hidden_layers", "28"},
      {"num_key_value_heads", "2"},
      {"vocab_size", "151936"}};
  std::string text;
  bool replaced = false;
  for (const auto& [name, usual] : fields) {
    replaced = replaced || name == field;
    const std::string& chosen = name == field ? value : usual;
    if (!chosen.empty()) text += (text.empty() ? "" : ",") + fmt::format("\"{}\":{}", name, chosen);
  }
  if (!replaced && !value.empty()) text += fmt::format(",\"{}\":{}", field, value);
  return fmt::format("{{{}}}", text);
}

// What a model's projections are with the biases that its config says.
Lines with_biases(const std::string& text) {
  Model model = read(text);
  take_biases(model);
  Lines all;
  for (const Projection& one : model.projections)
    all.push_back(one.name + (one.bias == TARE_BF16 ? " +b" : ""));
  return all;
}

// Qwen2's q, k and v have one, and nothing in the file says so; Llama's fields say which.
TEST(Config, KnowsWhichProjectionsHaveABias) {
  EXPECT_EQ(with_biases(with("", "")),
            (Lines{"q +b", "k/v +b", "o", "gate/up", "down", "lm_head"}));
  EXPECT_EQ(with_biases(with("attention_bias", "true", "llama")),
            (Lines{"q/o +b", "k/v +b", "gate/up", "down", "lm_head"}));
  EXPECT_EQ(with_biases(with("mlp_bias", "true", "llama")),
            (Lines{"q/o", "k/v", "gate/up +b", "down +b", "lm_head"}));
  EXPECT_EQ(with_biases(with("attention_bias", "false", "llama")),
            (Lines{"q/o", "k/v", "gate/up", "down", "lm_head"}));
}

TEST(Config, ForgetsBiasesThatAreLeft) {
  Model model = read(with("", ""));
  const Lines before = lines(model);
  leave_biases(model);
  EXPECT_EQ(lines(model), before);
  for (const Matrix& matrix : model.matrices) EXPECT_EQ(matrix.bias, 0u);
  keep_only(model, {"q"});
  EXPECT_EQ(model.matrices.size(), 28u * 2) << "q and o, of one shape, in every layer";
}

// Configs abridged from published models; the shapes are worked out by hand from the architectures.

TEST(Config, LlamaWithGroupedHeads) {  // Llama 3.1 8B
  const Model model = read(R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,
      "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":128256,
      "tie_word_embeddings":false})");
  EXPECT_EQ(lines(model), (Lines{"q/o 4096x4096 *64", "k/v 4096x1024 *64", "gate/up 4096x14336 *64",
                                 "down 14336x4096 *32", "lm_head 4096x128256 *1"}));
  // 8,030,261,248 parameters, less a token table of 128256 x 4096 and 65 norms of 4096.
  EXPECT_EQ(model.weights_per_token, 8030261248u - 128256u * 4096u - 65u * 4096u);
  EXPECT_EQ(model.name, "fallback");
  EXPECT_TRUE(model.notes.empty());
}

TEST(Config, LlamaWithoutKeyValueHeadsHasAsManyAsHeads) {  // Llama 2 7B
  const Model model = read(R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,
      "num_attention_heads":32,"num_hidden_layers":32,"vocab_size":32000,"_name_or_path":"meta-llama/Llama-2-7b"})");
  EXPECT_EQ(lines(model), (Lines{"q/k/v/o 4096x4096 *128", "gate/up 4096x11008 *64",
                                 "down 11008x4096 *32", "lm_head 4096x32000 *1"}));
  EXPECT_EQ(model.name, "Llama-2-7b");
}

TEST(Config, MistralWithExplicitHeadDim) {  // Mistral Nemo 12B: heads * head_dim is not hidden_size
  const Model model =
      read(R"({"model_type":"mistral","hidden_size":5120,"intermediate_size":14336,"head_dim":128,
      "num_attention_heads":32,"num_hidden_layers":40,"num_key_value_heads":8,"vocab_size":131072})");
  EXPECT_EQ(lines(model),
            (Lines{"q 5120x4096 *40", "k/v 5120x1024 *80", "o 4096x5120 *40",
                   "gate/up 5120x14336 *80", "down 14336x5120 *40", "lm_head 5120x131072 *1"}));
}

TEST(Config, Qwen3TakesHeadDim128WhenSilent) {  // Qwen3 0.6B
  const std::string text =
      R"({"model_type":"qwen3","hidden_size":1024,"intermediate_size":3072,"head_dim":null,
      "num_attention_heads":16,"num_hidden_layers":28,"num_key_value_heads":8,"vocab_size":151936})";
  EXPECT_EQ(lines(read(text)),
            (Lines{"q 1024x2048 *28", "k/v 1024x1024 *56", "o 2048x1024 *28",
                   "gate/up 1024x3072 *56", "down 3072x1024 *28", "lm_head 1024x151936 *1"}));
}

TEST(Config, Gemma2) {  // Gemma 2 2B
  const Model model =
      read(R"({"model_type":"gemma2","hidden_size":2304,"intermediate_size":9216,"head_dim":256,
      "num_attention_heads":8,"num_hidden_layers":26,"num_key_value_heads":4,"vocab_size":256000})");
  EXPECT_EQ(lines(model),
            (Lines{"q 2304x2048 *26", "k/v 2304x1024 *52", "o 2048x2304 *26",
                   "gate/up 2304x9216 *52", "down 9216x2304 *26", "lm_head 2304x256000 *1"}));
}

TEST(Config, Gemma3Text) {  // Gemma 3 1B
  const Model model = read(
      R"({"model_type":"gemma3_text","hidden_size":1152,"intermediate_size":6912,"head_dim":256,
      "num_attention_heads":4,"num_hidden_layers":26,"num_key_value_heads":1,"vocab_size":262144})");
  EXPECT_EQ(lines(model),
            (Lines{"q 1152x1024 *26", "k/v 1152x256 *52", "o 1024x1152 *26",
                   "gate/up 1152x6912 *52", "down 6912x1152 *26", "lm_head 1152x262144 *1"}));
}

TEST(Config, MultimodalGemma3NestsASparseTextConfig) {  // Gemma 3 4B says no more than this about
                                                        // its text model
  const Model model =
      read(R"({"model_type":"gemma3","vision_config":{"hidden_size":1152},"text_config":
      {"hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34}})");
  EXPECT_EQ(lines(model),
            (Lines{"q 2560x2048 *34", "k/v 2560x1024 *68", "o 2048x2560 *34",
                   "gate/up 2560x10240 *68", "down 10240x2560 *34", "lm_head 2560x262208 *1"}));
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_NE(model.notes[0].find("multimodal (gemma3)"), std::string::npos);
}

TEST(Config, Phi3IsFused) {  // Phi-3 mini 4k
  const Model model = read(R"({"model_type":"phi3","hidden_size":3072,"intermediate_size":8192,
      "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,"vocab_size":32064})");
  EXPECT_EQ(lines(model), (Lines{"qkv 3072x9216 *32", "o 3072x3072 *32", "gate_up 3072x16384 *32",
                                 "down 8192x3072 *32", "lm_head 3072x32064 *1"}));
}

TEST(Config, MixtureOfExpertsListsAttentionAndSaysSo) {
  for (
      const std::string text :
      {R"({"model_type":"mixtral","num_local_experts":8,"hidden_size":4096,"intermediate_size":14336,
            "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":32000})",
       R"({"model_type":"qwen3_moe","num_experts":128,"head_dim":128,"hidden_size":4096,"moe_intermediate_size":768,
            "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":32000})"}) {
    const Model model = read(text);
    EXPECT_EQ(lines(model),
              (Lines{"q/o 4096x4096 *64", "k/v 4096x1024 *64", "lm_head 4096x32000 *1"}));
    ASSERT_EQ(model.notes.size(), 1u);
    EXPECT_NE(model.notes[0].find("mixture of experts"), std::string::npos);
    EXPECT_NE(model.notes[0].find("not yet weighed"), std::string::npos);
  }
}

TEST(Config, OneExpertOrNoneIsDense) {
  for (const char* const count : {"0", "1", "null"})
    EXPECT_TRUE(read(with("num_experts", count)).notes.empty());
  EXPECT_EQ(read(with("num_experts", "2")).notes.size(), 1u);
}

TEST(Config, TiedOrNotTheHeadIsReadOnce) {
  EXPECT_EQ(lines(read(with("tie_word_embeddings", "true"))),
            lines(read(with("tie_word_embeddings", "false"))));
}

TEST(Config, NameIsTheLastPartOfWhatTheConfigSays) {
  EXPECT_EQ(read(with("_name_or_path", R"("Qwen/Qwen2.5-1.5B")")).name, "Qwen2.5-1.5B");
  EXPECT_EQ(read(with("_name_or_path", R"("")")).name, "fallback");
  EXPECT_EQ(read(with("_name_or_path", R"("..")")).name, "fallback");
  EXPECT_EQ(read(with("_name_or_path", R"("a\u001b[31mb")")).name, "a\\u001b[31mb");
}

TEST(Config, UnknownArchitectureIsNamedWithTheKnownOnes) {
  expect_error([] { read(with("model_type", R"("mamba")")); },
               {"'c': model_type 'mamba' is not one", "gemma2", "qwen3", "phi3", ".safetensors"});
  expect_error([] { read(with("model_type", "")); }, {"'c'", "'model_type' is missing"});
  expect_error([] { read(with("model_type", "7")); }, {"'model_type' must be a string, not 7"});
  expect_error([] { read("{}"); }, {"'model_type' is missing"});
}

TEST(Config, MissingFieldIsNamed) {
  for (const char* const field : {"hidden_size", "intermediate_size", "num_attention_heads",
                                  "num_hidden_layers", "num_key_value_heads", "vocab_size"}) {
    const std::string missing = fmt::format("'c': field '{}' is missing", field);
    expect_error([&] { read(with(field, "")); }, {missing});
    expect_error([&] { read(with(field, "null")); }, {missing});
  }
}

TEST(Config, FieldThatIsNoSuchNumberIsNamedWithItsValue) {
  for (const char* const field :
       {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers",
        "num_key_value_heads", "vocab_size", "head_dim"}) {
    for (const char* const value : {"0", "-1", "1.5", "4096.0", "true", "\"4096\"",
                                    "99999999999999999999", "16777217", "1e300", "[1]", "{}"}) {
      expect_error([&] { read(with(field, value)); },
                   {fmt::format("'c': field '{}' must be a whole number from 1 to ", field)});
    }
    expect_error([&] { read(with(field, "-42")); }, {"not -42"});
    expect_error([&] { read(with(field, "[1]")); }, {"not an array"});
  }
  expect_error([] { read(with("tie_word_embeddings", "1")); },
               {"'tie_word_embeddings' must be true or false, not 1"});
  expect_error([] { read(with("text_config", "[]")); }, {"'text_config' must be an object"});
  expect_error([] { read(with("num_experts", "\"8\"")); },
               {"'num_experts' must be a whole number from 0"});
}

TEST(Config, HeadsThatDoNotDivide) {
  expect_error([] { read(with("num_attention_heads", "7")); },
               {"'num_key_value_heads', 2, does not divide"});
  expect_error([] { read(with("num_attention_heads", "10")); },
               {"'num_attention_heads', 10, does not divide 'hidden_size', 1536"});
  expect_error([] { read(with("num_key_value_heads", "5")); },
               {"5, does not divide 'num_attention_heads', 12"});
  EXPECT_NO_THROW(read(with("head_dim", "100")));
}

TEST(Config, ShapesBeyondTheLimitsAreNamed) {
  // 12 heads of 2^24 are no dimension; 2^24 x 2^24 weights are no matrix.
  expect_error([] { read(with("head_dim", "16777216")); },
               {"projection 'q'", "from 1 to 16777216"});
  expect_error(
      [] {
        read(
            R"({"model_type":"llama","hidden_size":16777216,"intermediate_size":16777216,"num_attention_heads":1,
             "num_hidden_layers":1,"vocab_size":1})");
      },
      {"projection 'q'", "more than 1099511627776 (2^40)"});
}

TEST(Config, FieldsInsideATextConfigAreNamedAsSuch) {
  expect_error([] { read(R"({"model_type":"gemma3","text_config":{"hidden_size":"x"}})"); },
               {"'c': in 'text_config': field 'hidden_size'"});
}

}  // namespace
}  // namespace tare::problem
