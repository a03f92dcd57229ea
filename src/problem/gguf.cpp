#include "problem/gguf.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "problem/tensors.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

// Beyond what any model has; they bound the time that a broken file can take.
constexpr std::uint64_t kMostEntries = 1 << 16;
constexpr std::uint64_t kMostTensors = 1 << 20;
constexpr std::uint64_t kMostArray = 1 << 26;
constexpr std::uint64_t kMostNameBytes = 65535;      // of a key; the format's limit
constexpr std::uint64_t kMostTensorNameBytes = 256;  // the format says 64, but longer ones exist
constexpr std::uint32_t kMostRank = 4;
constexpr std::uint32_t kMostAlignment = 1 << 20;

// Types of metadata values, by their number in the file.
enum : std::uint32_t { kUint32 = 4, kString = 8, kArray = 9 };
constexpr std::array<std::uint64_t, 13> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct BlockType {
  std::uint32_t number;
  std::string_view name;
  std::uint64_t weights;  // of a block: a row holds a whole number of blocks
  std::uint64_t bytes;
};

// ggml's types, with the sizes that the gguf Python package (0.19.0) computes; numbers left out are
// no longer in use.
constexpr std::array<BlockType, 34> kTypes = {{
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},      {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
}};

struct Metadata {
  std::string architecture;
  std::string name;
  std::uint64_t alignment = 32;
};

void check_count(std::uint64_t count, std::uint64_t most, std::string_view what,
                 const ByteReader& file) {
  if (count > most) {
    fail(Blame::kInput, "{}: broken: it claims {} {}, more than {}", quoted(file.path()), count,
         what, most);
  }
}

std::string read_string(ByteReader& file, std::uint64_t most, std::string_view what) {
  const auto length = file.read<std::uint64_t>(what);
  if (length > most && length <= file.remaining()) {
    fail(Blame::kInput, "{}: broken: {} at byte {} has {} bytes, more than {}", quoted(file.path()),
         what, file.position(), length, most);
  }
  return file.read_bytes(length, what);
}

void skip_string(ByteReader& file, std::string_view what) {
  const auto length = file.read<std::uint64_t>(what);
  file.skip(length, what);
}

std::uint64_t value_bytes(std::uint32_t type, std::string_view key, const ByteReader& file) {
  if (type >= kValueBytes.size()) {
    fail(Blame::kInput, "{}: broken: metadata '{}' has type {}, which GGUF does not have",
         quoted(file.path()), printable(key), type);
  }
  return kValueBytes[type];
}

void skip_array(ByteReader& file, std::string_view key) {
  const auto type = file.read<std::uint32_t>("the type of a metadata array");
  const auto count = file.read<std::uint64_t>("the length of a metadata array");
  const std::uint64_t bytes = value_bytes(type, key, file);
  if (type == kArray) {
    fail(Blame::kInput, "{}: metadata '{}' is an array of arrays, which is not read",
         quoted(file.path()), printable(key));
  }
  check_count(count, kMostArray, fmt::format("elements of '{}'", printable(key)), file);
  if (type != kString) return file.skip(count * bytes, "a metadata array");
  for (std::uint64_t i = 0; i < count; ++i) skip_string(file, "a string of a metadata array");
}

void skip_value(ByteReader& file, std::uint32_t type, std::string_view key) {
  const std::uint64_t bytes = value_bytes(type, key, file);
  if (type == kArray) return skip_array(file, key);
  if (type == kString) return skip_string(file, "a metadata string");
  file.skip(bytes, "a metadata value");
}

void require_type(std::uint32_t type, std::uint32_t wanted, std::string_view key,
                  std::string_view must, const ByteReader& file) {
  if (type != wanted) {
    fail(Blame::kInput, "{}: metadata '{}' must be {}, and has type {}", quoted(file.path()), key,
         must, type);
  }
}

std::uint64_t read_alignment(ByteReader& file) {
  const auto alignment = file.read<std::uint32_t>("general.alignment");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kMostAlignment) {
    fail(Blame::kInput, "{}: metadata 'general.alignment' must be a power of two up to {}, not {}",
         quoted(file.path()), kMostAlignment, alignment);
  }
  return alignment;
}

void read_entry(ByteReader& file, Metadata& metadata) {
  const std::string key = read_string(file, kMostNameBytes, "a metadata key");
  const auto type = file.read<std::uint32_t>("the type of a metadata value");
  if (key == "general.architecture") {
    require_type(type, kString, key, "a string", file);
    metadata.architecture = read_string(file, kMostNameBytes, key);
  } else if (key == "general.name") {
    require_type(type, kString, key, "a string", file);
    metadata.name = read_string(file, kMostNameBytes, key);
  } else if (key == "general.alignment") {
    require_type(type, kUint32, key, "a uint32", file);
    metadata.alignment = read_alignment(file);
  } else {
    skip_value(file, type, key);
  }
}

const BlockType& find_type(std::uint32_t number, std::string_view where) {
  const auto* const found = std::find_if(
      kTypes.begin(), kTypes.end(), [&](const BlockType& type) { return type.number == number; });
  if (found == kTypes.end()) {
    fail(Blame::kInput, "{}: type {} is none of ggml's that Tare knows", where, number);
  }
  return *found;
}

// Innermost first in the file; outermost first here.
std::vector<std::uint64_t> read_shape(ByteReader& file, std::string_view where) {
  const auto rank = file.read<std::uint32_t>("a tensor's number of dimensions");
  if (rank > kMostRank)
    fail(Blame::kInput, "{}: broken: it has {} dimensions, more than {}", where, rank, kMostRank);
  std::vector<std::uint64_t> shape;
  for (std::uint32_t i = 0; i < rank; ++i) {
    shape.push_back(file.read<std::uint64_t>("a tensor's dimension"));
    if (shape.back() == 0) fail(Blame::kInput, "{}: broken: dimension {} is zero", where, i);
  }
  std::reverse(shape.begin(), shape.end());
  return shape;
}

std::uint64_t bytes_of(const std::vector<std::uint64_t>& shape, const BlockType& type,
                       std::string_view where) {
  const std::uint64_t row = shape.empty() ? 1 : shape.back();
  if (row % type.weights != 0) {
    fail(Blame::kInput, "{}: broken: rows of {} do not divide into {} blocks of {}", where, row,
         type.name, type.weights);
  }
  std::uint64_t bytes = type.bytes;
  bool overflow = __builtin_mul_overflow(bytes, row / type.weights, &bytes);
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
    overflow = overflow || __builtin_mul_overflow(bytes, shape[i], &bytes);
  }
  if (overflow) {
    fail(Blame::kInput, "{}: broken: its shape [{}] is larger than any file", where,
         fmt::join(shape, ", "));
  }
  return bytes;
}

Tensor read_tensor(ByteReader& file, const Metadata& metadata, Span& span) {
  const std::string name = read_string(file, kMostTensorNameBytes, "a tensor's name");
  const std::string where = fmt::format("{}: tensor '{}'", quoted(file.path()), printable(name));
  const std::vector<std::uint64_t> shape = read_shape(file, where);
  const BlockType& type = find_type(file.read<std::uint32_t>("a tensor's type"), where);
  const auto offset = file.read<std::uint64_t>("a tensor's offset");
  if (offset % metadata.alignment != 0) {
    fail(Blame::kInput, "{}: broken: its offset {} is not a multiple of {}", where, offset,
         metadata.alignment);
  }
  span = {offset, bytes_of(shape, type, where), name};
  return {.name = name,
          .meaning = read_gguf_name(name, metadata.architecture),
          .shape = shape,
          .type = std::string(type.name),
          .piece = {file.path(), offset, span.bytes, std::string(type.name)}};
}

void check_version(ByteReader& file) {
  const auto version = file.read<std::uint32_t>("the version");
  if (version == 2 || version == 3) return;
  if ((version & 0xFFFFu) == 0) {
    fail(Blame::kInput, "{}: a big-endian GGUF file, which is not read", quoted(file.path()));
  }
  fail(Blame::kInput, "{}: GGUF version {}; versions 2 and 3 are read", quoted(file.path()),
       version);
}

std::vector<Tensor> read_tensors(ByteReader& file, const Metadata& metadata, std::uint64_t count) {
  std::vector<Tensor> tensors;
  std::vector<Span> spans;
  for (std::uint64_t i = 0; i < count; ++i) {
    spans.emplace_back();
    tensors.push_back(read_tensor(file, metadata, spans.back()));
  }
  const std::uint64_t padding =
      (metadata.alignment - file.position() % metadata.alignment) % metadata.alignment;
  file.skip(padding, "the padding before the data");
  check_spans(spans, file.remaining(), quoted(file.path()));
  for (Tensor& tensor : tensors) tensor.piece.offset += file.position();
  return tensors;
}

}  // namespace

bool looks_like_gguf(std::string_view first_bytes) {
  return first_bytes.starts_with("GGUF");
}

Model model_from_gguf(ByteReader& file) {
  file.skip(4, "the magic");
  check_version(file);
  const auto tensor_count = file.read<std::uint64_t>("the number of tensors");
  const auto entry_count = file.read<std::uint64_t>("the number of metadata entries");
  check_count(tensor_count, kMostTensors, "tensors", file);
  check_count(entry_count, kMostEntries, "metadata entries", file);
  Metadata metadata;
  for (std::uint64_t i = 0; i < entry_count; ++i) read_entry(file, metadata);

  Model model;
  model.name = metadata.name.empty() ? name_from_path(file.path()) : printable(metadata.name);
  const Extent extent = extent_of(file.path());
  add_tensors(model, read_tensors(file, metadata, tensor_count), extent, quoted(file.path()));
  if (extent == Extent::kPart) {
    model.notes.emplace_back("one file of several: only its own weights are listed and counted");
  }
  return model;
}

}  // namespace tare::problem
