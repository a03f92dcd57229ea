#include "problem/gguf.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

// Numbers of ggml's types.
enum : std::uint32_t { kF32 = 0, kQ4_0 = 2, kQ4_K = 12, kQ6_K = 14, kBF16 = 30 };
// Numbers of GGUF's metadata types.
enum : std::uint32_t {
  kUint8 = 0,
  kUint32 = 4,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10
};

Gguf decoder() {
  Gguf gguf;
  gguf.entries = {
      Gguf::text_entry("general.architecture", "llama"),
      Gguf::text_entry("general.name", "Small One"),
      Gguf::entry("llama.block_count", kUint32, little_endian(2, 4)),
      Gguf::entry("a.byte", kUint8, little_endian(2, 1)),
      Gguf::entry("a.flag", kBool, little_endian(1, 1)),
      Gguf::entry("a.long", kUint64, little_endian(1, 8)),
      Gguf::entry(
          "tokens", kArray,
          little_endian(kString, 4) + little_endian(2, 8) + Gguf::string("<s>") + Gguf::string("")),
      Gguf::entry("scores", kArray,
                  little_endian(kFloat32, 4) + little_endian(3, 8) + std::string(12, 'x')),
  };
  gguf.tensors = {
      {"token_embd.weight", {256, 7}, kQ6_K, 7 * 210},
      {"blk.0.attn_q.weight", {256, 64}, kQ4_K, 64 * 144},
      {"blk.1.attn_q.weight", {256, 64}, kQ6_K, 64 * 210},
      {"blk.0.attn_k.weight", {256, 32}, kBF16, 256 * 32 * 2},
      {"blk.0.attn_output.weight", {64, 256}, kQ4_0, 2 * 256 * 18},
      {"blk.0.ffn_up.weight", {256, 32}, kBF16, 256 * 32 * 2},
      {"output_norm.weight", {256}, kF32, 1024},
  };
  return gguf;
}

Model read(const std::string& bytes) {
  const Folder folder;
  return read_model(folder.write("m.gguf", bytes));
}

void expect_broken(const Gguf& gguf, std::vector<std::string> parts) {
  parts.insert(parts.begin(), "m.gguf'");
  expect_error([&] { read(gguf.bytes()); }, parts);
}

TEST(Gguf, Decoder) {
  for (const std::uint32_t version : {2u, 3u}) {
    Gguf gguf = decoder();
    gguf.version = version;
    const Model model = read(gguf.bytes());
    EXPECT_EQ(model.name, "Small One");
    EXPECT_EQ(lines(model), (Lines{"q 256x64 *1 Q4_K", "q 256x64 *1 Q6_K", "k/up 256x32 *2 BF16",
                                   "o 64x256 *1 Q4_0", "lm_head 256x7 *1 Q6_K"}));
    EXPECT_EQ(model.weights_per_token, 256u * 64 * 2 + 256u * 32 * 2 + 64u * 256 + 256u * 7);
  }
}

TEST(Gguf, OwnHeadComesBeforeTheTokenTable) {
  Gguf gguf = decoder();
  gguf.tensors.push_back({"output.weight", {256, 9}, kBF16, 256 * 9 * 2});
  EXPECT_EQ(read(gguf.bytes()).projections.back().n, 9u);
}

TEST(Gguf, EncoderHasNoHead) {
  Gguf gguf = decoder();
  gguf.entries[0] = Gguf::text_entry("general.architecture", "bert");
  EXPECT_EQ(read(gguf.bytes()).projections.back().name, "o");
}

TEST(Gguf, ExpertsAreNoted) {
  Gguf gguf = decoder();
  gguf.tensors.push_back({"blk.0.ffn_gate_exps.weight", {32, 2, 4}, kF32, 1024});
  const Model model = read(gguf.bytes());
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_NE(model.notes[0].find("mixture of experts"), std::string::npos);
}

TEST(Gguf, OtherAlignment) {
  Gguf gguf = decoder();
  gguf.alignment = 8;
  gguf.entries.push_back(Gguf::entry("general.alignment", kUint32, little_endian(8, 4)));
  EXPECT_EQ(read(gguf.bytes()).projections.size(), 5u);
  for (const std::uint64_t bad : {0u, 3u, 1u << 21}) {
    gguf.entries.back() = Gguf::entry("general.alignment", kUint32, little_endian(bad, 4));
    expect_broken(gguf, {"'general.alignment' must be a power of two"});
  }
  gguf.entries.back() = Gguf::entry("general.alignment", kUint64, little_endian(8, 8));
  expect_broken(gguf, {"'general.alignment' must be a uint32, and has type 10"});
}

TEST(Gguf, CutAtEveryByteIsAnError) {
  Gguf gguf = decoder();
  gguf.tensors.resize(2);
  gguf.tensors[0] = {"token_embd.weight", {32, 1}, kQ4_0, 18};
  gguf.tensors[1] = {"blk.0.attn_q.weight", {16, 1}, kF32, 64};
  const Folder folder;
  const auto path = folder.write("m.gguf", gguf.bytes());
  ASSERT_EQ(read_model(path).projections.size(), 2u);
  expect_error_at_every_cut(path);
}

TEST(Gguf, ChangedBytesNeverCrash) {
  Gguf gguf = decoder();
  gguf.tensors.resize(4);
  const std::string whole = gguf.bytes();
  const Folder folder;
  read_with_changed_bytes(folder.write("m.gguf", whole), whole.find("blk.0.attn_k.weight") + 60,
                          {0x01, 0x80, 0xFF});
}

TEST(Gguf, LyingCounts) {
  Gguf gguf = decoder();
  gguf.extra_tensors = std::uint64_t{1} << 62;
  expect_broken(gguf, {"tensors, more than 1048576"});
  gguf.extra_tensors = 1000;
  expect_broken(gguf, {"m.gguf'"});
  gguf = decoder();
  gguf.extra_entries = ~std::uint64_t{0} - 100;
  expect_broken(gguf, {"metadata entries, more than 65536"});
  gguf.extra_entries = 1000;
  expect_broken(gguf, {"m.gguf'"});
}

TEST(Gguf, LyingMetadata) {
  const auto with = [](const std::string& entry) {
    Gguf gguf = decoder();
    gguf.entries.push_back(entry);
    return gguf;
  };
  const std::string huge = little_endian(std::uint64_t{1} << 62, 8);
  expect_broken(with(huge), {"cut short", "a metadata key", "needs 4611686018427387904 bytes"});
  expect_broken(with(Gguf::entry("k", kString, huge)), {"cut short", "a metadata string"});
  expect_broken(with(Gguf::entry("general.name", kString, huge)), {"cut short", "general.name"});
  expect_broken(with(Gguf::entry("k", kArray, little_endian(kUint8, 4) + huge)),
                {"elements of 'k', more than"});
  expect_broken(
      with(Gguf::entry("k", kArray, little_endian(kUint64, 4) + little_endian(1 << 25, 8))),
      {"cut short", "a metadata array"});
  expect_broken(
      with(Gguf::entry("k", kArray, little_endian(kString, 4) + little_endian(1 << 25, 8))),
      {"cut short"});
  expect_broken(with(Gguf::entry("k", kArray, little_endian(kArray, 4) + little_endian(1, 8))),
                {"'k' is an array of arrays"});
  expect_broken(with(Gguf::entry("k", 13, "")), {"metadata 'k' has type 13"});
  expect_broken(with(Gguf::entry("general.name", kUint32, little_endian(1, 4))),
                {"'general.name' must be a string"});
  expect_broken(with(Gguf::entry("general.architecture", kUint32, little_endian(1, 4))),
                {"'general.architecture' must be"});
}

TEST(Gguf, LyingTensors) {
  const auto with = [](const GgufTensor& tensor) {
    Gguf gguf = decoder();
    gguf.tensors.push_back(tensor);
    return gguf;
  };
  expect_broken(with({"w.weight", {255, 2}, kQ4_K, 288}),
                {"tensor 'w.weight'", "rows of 255 do not divide into Q4_K blocks of 256"});
  expect_broken(with({"w.weight", {0, 2}, kF32, 0}), {"'w.weight'", "dimension 0 is zero"});
  expect_broken(with({"w.weight", {1, 1, 1, 1, 1}, kF32, 4}),
                {"'w.weight'", "5 dimensions, more than 4"});
  expect_broken(with({"w.weight", {2, 2}, 4, 16}), {"'w.weight'", "type 4 is none of ggml's"});
  expect_broken(with({"w.weight", {2, 2}, 99, 16}), {"'w.weight'", "type 99 is none of ggml's"});
  expect_broken(with({"w.weight", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, kF32, 4}),
                {"'w.weight'", "larger than any file"});
  expect_broken(with({"w.weight", {1 << 20, 1 << 20}, kF32, 4}),
                {"cut short", "'w.weight' takes 4398046511104 bytes"});
  expect_broken(with({std::string(300, 'w') + ".weight", {2, 2}, kF32, 16}),
                {"a tensor's name", "more than 256"});
  // Declares 256 bytes and is given 64: the next tensor lies inside it.
  Gguf overlapping = decoder();
  overlapping.tensors.insert(overlapping.tensors.begin(), {"w.weight", {8, 8}, kF32, 64});
  expect_broken(overlapping, {"'token_embd.weight' begins at byte 64",
                              "inside the tensor before it, which ends at 256"});
}

TEST(Gguf, OffsetsAreAligned) {
  Gguf gguf = decoder();
  gguf.alignment = 8;  // and the file does not say so: 32 holds
  gguf.tensors.insert(gguf.tensors.begin(), {"w.weight", {2, 1}, kF32, 8});
  expect_broken(gguf, {"its offset 8 is not a multiple of 32"});
}

TEST(Gguf, OtherVersions) {
  Gguf gguf = decoder();
  gguf.version = 1;
  expect_broken(gguf, {"GGUF version 1; versions 2 and 3 are read"});
  gguf.version = 3u << 24;
  expect_broken(gguf, {"big-endian"});
}

TEST(Gguf, NothingToWeigh) {
  Gguf gguf = decoder();
  gguf.tensors = {{"output_norm.weight", {256}, kF32, 1024}};
  expect_broken(gguf, {"none of its 1 tensors"});
  gguf.tensors.clear();
  expect_broken(gguf, {"none of its 0 tensors"});
}

TEST(Gguf, NamesThatAreNotTextAreDisarmed) {
  Gguf gguf = decoder();
  gguf.entries[1] = Gguf::text_entry("general.name", "\xff\x1b[2J");
  gguf.tensors.push_back({"\xff\n.weight", {3, 3}, kF32, 36});
  const Model model = read(gguf.bytes());
  EXPECT_EQ(model.name, "\uFFFD\\u001b[2J");
  EXPECT_EQ(model.projections.back().name, "\uFFFD\\n");
}

}  // namespace
}  // namespace tare::problem
