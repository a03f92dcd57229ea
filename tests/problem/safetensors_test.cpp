#include "problem/safetensors.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

Model read(const std::string& bytes, const std::string& name = "m.safetensors") {
  const Folder folder;
  return read_model(folder.write(name, bytes));
}

void expect_broken(const std::string& header, std::size_t data_bytes,
                   std::vector<std::string> parts) {
  parts.insert(parts.begin(), "m.safetensors'");
  expect_error([&] { read(safetensors(header, data_bytes)); }, parts);
}

// One layer of a decoder with its token table, F16, W[n, k]: 6 hidden, 4 for q, 2 for k and v, 10
// for the feed-forward, 11 words.
std::string decoder(bool with_head) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::uint64_t end = 0;
  const auto add = [&](const std::string& name, std::uint64_t n, std::uint64_t k) {
    const std::uint64_t bytes = n * k * 2;
    header += "," + entry(name, "F16", fmt::format("{},{}", n, k), end, end + bytes);
    end += bytes;
  };
  add("model.embed_tokens.weight", 11, 6);
  add("model.layers.0.self_attn.q_proj.weight", 4, 6);
  add("model.layers.0.self_attn.k_proj.weight", 2, 6);
  add("model.layers.0.self_attn.v_proj.weight", 2, 6);
  add("model.layers.0.self_attn.o_proj.weight", 6, 4);
  add("model.layers.0.mlp.gate_proj.weight", 10, 6);
  add("model.layers.0.mlp.up_proj.weight", 10, 6);
  add("model.layers.0.mlp.down_proj.weight", 6, 10);
  if (with_head) add("lm_head.weight", 12, 6);
  header += "," + entry("model.norm.weight", "F16", "6", end, end + 12) + "}";
  return safetensors(header, end + 12);
}

TEST(Safetensors, DecoderWithAndWithoutHead) {
  EXPECT_EQ(lines(read(decoder(true))),
            (Lines{"q 6x4 *1 F16", "k/v 6x2 *2 F16", "o 4x6 *1 F16", "gate/up 6x10 *2 F16",
                   "down 10x6 *1 F16", "lm_head 6x12 *1 F16"}));
  const Model tied = read(decoder(false));
  EXPECT_EQ(tied.projections.back().name, "lm_head");
  EXPECT_EQ(tied.projections.back().n, 11u) << "a token table without a head is the head";
  EXPECT_EQ(tied.weights_per_token, 24u + 2 * 12 + 24 + 2 * 60 + 60 + 66);
  EXPECT_EQ(tied.name, "m");
  EXPECT_TRUE(tied.notes.empty());
}

TEST(Safetensors, OneShardDoesNotGuessTheHead) {
  const Model shard = read(decoder(false), "model-00001-of-00002.safetensors");
  EXPECT_EQ(shard.projections.back().name, "down");
  ASSERT_EQ(shard.notes.size(), 1u);
  EXPECT_NE(shard.notes[0].find("model.safetensors.index.json"), std::string::npos);
}

TEST(Safetensors, KindIsDecidedByContentAndNotByName) {
  EXPECT_EQ(read(decoder(true), "config.json").projections.size(), 6u);
  EXPECT_EQ(read(decoder(true), "m.gguf").projections.size(), 6u);
}

TEST(Safetensors, PackedWeightsThatAreNotReadAreNoted) {
  // As MLX packs them, 4 bits, eight weights in a word; without the biases.
  const std::string packed = entry("l.self_attn.q_proj.weight", "U32", "64,8", 0, 2048) + "," +
                             entry("l.self_attn.q_proj.scales", "F16", "64,1", 2048, 2176);
  expect_broken("{" + packed + "}", 2176,
                {"1 weights are stored packed", "no 'biases'", "q_proj.weight", "config.json"});
  const Model mixed = read(safetensors(
      "{" + packed + "," + entry("lm_head.weight", "F16", "3,2", 2176, 2188) + "}", 2188));
  EXPECT_EQ(lines(mixed), Lines{"lm_head 2x3 *1 F16"});
  ASSERT_EQ(mixed.notes.size(), 1u);
  EXPECT_NE(mixed.notes[0].find("stored packed"), std::string::npos);
}

TEST(Safetensors, ExpertsAreNoted) {
  const Model model =
      read(safetensors("{" + entry("l.0.self_attn.q_proj.weight", "BF16", "2,2", 0, 8) + "," +
                           entry("l.0.mlp.experts.0.up_proj.weight", "BF16", "2,2", 8, 16) + "}",
                       16));
  EXPECT_EQ(lines(model), Lines{"q 2x2 *1 BF16"});
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_NE(model.notes[0].find("mixture of experts"), std::string::npos);
}

TEST(Safetensors, CutAtEveryByteIsAnError) {
  const Folder folder;
  expect_error_at_every_cut(folder.write("m.safetensors", decoder(true)));
  expect_error([&] { read(decoder(true) + "x"); }, {"broken", "its tensors end at byte"});
}

TEST(Safetensors, LyingHeaderLengths) {
  const std::string rest = "{\"a\":{}}";
  for (const std::uint64_t length :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{100'000'001}}) {
    expect_error([&] { read(little_endian(length, 8) + rest); },
                 {"m.safetensors'", fmt::format("header would have {} bytes", length)});
  }
  expect_error([&] { read(little_endian(99'999'999, 8) + rest); },
               {"cut short", "needs 99999999 bytes, and 8 are left"});
  expect_error([&] { read(little_endian(5, 8) + rest); }, {"header: not JSON"});
}

TEST(Safetensors, LyingTensors) {
  const std::string good = entry("w", "F32", "2,3", 0, 24);
  EXPECT_EQ(lines(read(safetensors("{" + good + "}", 24))), Lines{"w 3x2 *1 F32"});
  expect_broken("{" + entry("w", "F32", "2,3", 0, 20) + "}", 20,
                {"tensor 'w'", "span 20 bytes", "shape [2, 3]"});
  expect_broken("{" + entry("w", "F32", "2,3", 0, 24) + "}", 20,
                {"cut short", "'w' takes 24 bytes from byte 0", "has 20"});
  expect_broken("{" + entry("w", "F32", "2,3", 24, 0) + "}", 24, {"'w'", "begin <= end"});
  expect_broken("{" + entry("w", "F32", "2,3", 8, 32) + "}", 32, {"no tensor has bytes 0 to 8"});
  expect_broken("{" + good + "}", 32, {"end at byte 24", "has 32"});
  expect_broken("{" + good + "," + entry("x", "F32", "2,3", 12, 36) + "}", 36,
                {"'x' begins at byte 12", "inside the tensor"});
  expect_broken("{" + good + "," + entry("x", "F32", "2,3", 0, 24) + "}", 24,
                {"'x' begins at byte 0", "inside"});
  expect_broken("{" + entry("w", "F32", "4294967296,4294967296", 0, 24) + "}", 24,
                {"'w'", "are not that many"});
  expect_broken("{" + entry("w", "F32", "2,3", 0, ~std::uint64_t{0}) + "}", 24,
                {"'w'", "are not that many"});
  expect_broken("{" + entry("w", "Q9", "2,3", 0, 24) + "}", 24, {"'w'", "dtype 'Q9'"});
  expect_broken("{" + entry("w", "F4", "1,1", 0, 0) + "}", 0, {"'w'", "are not that many"});
}

TEST(Safetensors, WrongTypesInTheHeader) {
  expect_broken(R"({"w":3})", 0, {"tensor 'w': must be a JSON object"});
  expect_broken(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4,
                {"'w': field 'shape' must be an array"});
  expect_broken(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
                {"'shape' must hold whole numbers"});
  expect_broken(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4,
                {"'data_offsets' must be [begin, end]"});
  expect_broken(R"({"w":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4,
                {"'dtype' must be a string"});
  expect_broken(R"({"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
                {"at most 8 numbers"});
}

TEST(Safetensors, NothingToWeigh) {
  expect_broken("{}", 0, {"none of its 0 tensors"});
  expect_broken("{" + entry("model.norm.weight", "F32", "6", 0, 24) + "}", 24,
                {"none of its 1 tensors"});
  // A dimension of zero is legal in the format, but not a projection.
  expect_broken("{" + entry("w", "F32", "0,6", 0, 0) + "}", 0,
                {"tensor 'w'", "must each be from 1"});
}

TEST(Safetensors, ChangedBytesNeverCrash) {
  const std::string whole = decoder(true);
  const Folder folder;
  read_with_changed_bytes(folder.write("m.safetensors", whole), whole.find("}}") + 2,
                          {0x01, 0x10, 0x80, 0xFF});
}

class Index : public testing::Test {
 protected:
  Model read_index(const std::string& text) {
    return read_model(folder_.write("Some-Model/model.safetensors.index.json", text));
  }
  Folder folder_;
};

TEST_F(Index, GathersItsShards) {
  folder_.write(
      "Some-Model/a.safetensors",
      safetensors("{" + entry("model.embed_tokens.weight", "BF16", "5,2", 0, 20) + "}", 20));
  folder_.write("Some-Model/b.safetensors",
                safetensors("{" + entry("l.0.self_attn.q_proj.weight", "BF16", "2,2", 0, 8) + "," +
                                entry("unlisted.weight", "BF16", "2,2", 8, 16) + "}",
                            16));
  const Model model = read_index(R"({"metadata":{"total_size":28},"weight_map":{
      "model.embed_tokens.weight":"a.safetensors","l.0.self_attn.q_proj.weight":"b.safetensors"}})");
  EXPECT_EQ(lines(model), (Lines{"q 2x2 *1 BF16", "lm_head 2x5 *1 BF16"}));
  EXPECT_EQ(model.name, "Some-Model");
}

TEST_F(Index, BadShardsAreNamed) {
  expect_error([&] { read_index(R"({"weight_map":{"a.weight":"absent.safetensors"}})"); },
               {"absent.safetensors'", "no such file"});
  folder_.write("Some-Model/a.safetensors",
                safetensors("{" + entry("w", "BF16", "2,2", 0, 8) + "}", 8));
  expect_error([&] { read_index(R"({"weight_map":{"v":"a.safetensors"}})"); },
               {"a.safetensors'", "does not hold tensor 'v'"});
  folder_.write("Some-Model/a.safetensors", "garbage");
  expect_error([&] { read_index(R"({"weight_map":{"w":"a.safetensors"}})"); }, {"a.safetensors'"});
}

TEST_F(Index, ShardsLieBesideTheIndex) {
  for (const char* const file : {"../x", "/etc/passwd", "..", ".", "", "a/b"}) {
    expect_error([&] { read_index(fmt::format(R"({{"weight_map":{{"w":"{}"}}}})", file)); },
                 {"index.json'", "'w' must name a file beside the index"});
  }
  expect_error([&] { read_index(R"({"weight_map":{"w":3}})"); }, {"'w' must name a file"});
  for (const char* const map : {"{}", "[]", "3", "null"}) {
    expect_error([&] { read_index(fmt::format(R"({{"weight_map":{}}})", map)); },
                 {"'weight_map' must be an object"});
  }
}

}  // namespace
}  // namespace tare::problem
