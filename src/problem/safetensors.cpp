#include "problem/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "problem/json_fields.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The reference implementation reads no larger header.
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;
constexpr std::size_t kMostRank = 8;

struct ElementType {
  std::string_view name;
  std::uint64_t bits;
  bool packed;  // an integer or a part of a byte: as a weight, it holds several packed ones
};

constexpr std::array<ElementType, 22> kTypes = {{
    {"BOOL", 8, true},         {"F4", 4, true},           {"F6_E2M3", 6, true},
    {"F6_E3M2", 6, true},      {"U8", 8, true},           {"I8", 8, false},
    {"F8_E5M2", 8, false},     {"F8_E4M3", 8, false},     {"F8_E8M0", 8, true},
    {"F8_E4M3FNUZ", 8, false}, {"F8_E5M2FNUZ", 8, false}, {"I16", 16, true},
    {"U16", 16, true},         {"F16", 16, false},        {"BF16", 16, false},
    {"I32", 32, true},         {"U32", 32, true},         {"F32", 32, false},
    {"C64", 64, true},         {"F64", 64, false},        {"I64", 64, true},
    {"U64", 64, true},
}};

const ElementType& find_type(const Fields& tensor) {
  const std::string name = tensor.text_if_any("dtype").value_or("");
  const auto* const found = std::find_if(
      kTypes.begin(), kTypes.end(), [&](const ElementType& type) { return type.name == name; });
  if (found == kTypes.end()) {
    fail(Blame::kInput, "{}: dtype '{}' is none of the format's", tensor.where(),
         printable(name, 64));
  }
  return *found;
}

// An array of whole numbers from 0.
std::vector<std::uint64_t> read_numbers(const json& tensor, const char* name, std::size_t most,
                                        std::string_view where) {
  const auto found = tensor.find(name);
  if (found == tensor.end() || !found->is_array() || found->size() > most) {
    fail(Blame::kInput, "{}: field '{}' must be an array of at most {} numbers", where, name, most);
  }
  std::vector<std::uint64_t> numbers;
  for (const json& number : *found) {
    if (!number.is_number_unsigned()) {
      fail(Blame::kInput, "{}: field '{}' must hold whole numbers from 0", where, name);
    }
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

// Bytes of a dense tensor; nothing when no file could hold it, or it ends inside a byte.
std::optional<std::uint64_t> bytes_of(const std::vector<std::uint64_t>& shape, std::uint64_t bits) {
  std::uint64_t product = bits;
  for (const std::uint64_t dimension : shape) {
    if (__builtin_mul_overflow(product, dimension, &product)) return std::nullopt;
  }
  if (product % 8 != 0) return std::nullopt;
  return product / 8;
}

Span read_span(const json& tensor, const std::string& name, std::string_view where) {
  const std::vector<std::uint64_t> offsets = read_numbers(tensor, "data_offsets", 2, where);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fail(Blame::kInput, "{}: field 'data_offsets' must be [begin, end] with begin <= end", where);
  }
  return {offsets[0], offsets[1] - offsets[0], name};
}

Tensor read_tensor(const std::string& name, const json& entry, const fs::path& path, Span& span) {
  const std::string where = fmt::format("{}: tensor '{}'", quoted(path), printable(name));
  if (!entry.is_object()) fail(Blame::kInput, "{}: must be a JSON object", where);
  const ElementType& type = find_type(Fields(entry, where));
  Tensor tensor{.name = name,
                .meaning = read_safetensors_name(name),
                .shape = read_numbers(entry, "shape", kMostRank, where),
                .type = std::string(type.name),
                .packed = type.packed};
  span = read_span(entry, name, where);
  const std::optional<std::uint64_t> bytes = bytes_of(tensor.shape, type.bits);
  if (!bytes || *bytes != span.bytes) {
    fail(Blame::kInput,
         "{}: broken: its data_offsets span {} bytes, and {} of shape [{}] are not that many",
         where, span.bytes, type.name, fmt::join(tensor.shape, ", "));
  }
  tensor.piece = {path, span.offset, span.bytes, tensor.type};
  return tensor;
}

// The format allows no hole, so that a file cannot carry what its header does not name.
void check_filled(const std::vector<Span>& spans, std::uint64_t size, std::string_view where) {
  std::uint64_t end = 0;
  for (const Span& span : spans) {
    if (span.offset != end) {
      fail(Blame::kInput, "{}: broken: no tensor has bytes {} to {} of the data", where, end,
           span.offset);
    }
    end = span.offset + span.bytes;
  }
  if (end != size) {
    fail(Blame::kInput, "{}: broken: its tensors end at byte {} of the data, which has {}", where,
         end, size);
  }
}

json read_header(ByteReader& file) {
  const std::string where = quoted(file.path());
  const auto length = file.read<std::uint64_t>("the header's length");
  if (length > kMostHeaderBytes) {
    fail(Blame::kInput, "{}: broken: its header would have {} bytes; the format allows {}", where,
         length, kMostHeaderBytes);
  }
  return parse_object(file.read_bytes(length, "the header"), where + ": header");
}

using NamesByShard = std::map<std::string, std::set<std::string>>;

NamesByShard read_weight_map(const json& index, std::string_view where) {
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) {
    fail(Blame::kInput, "{}: field 'weight_map' must be an object of tensor names and files",
         where);
  }
  NamesByShard names;
  for (const auto& [tensor, shard] : map->items()) {
    // Only files beside the index: a name with a folder in it could point anywhere.
    const std::string file = shard.is_string() ? shard.get<std::string>() : "";
    if (file.empty() || file == "." || file == ".." || fs::path(file).filename() != file ||
        file.find('\0') != std::string::npos) {
      fail(Blame::kInput,
           "{}: weight_map of tensor '{}' must name a file beside the index, not '{}'", where,
           printable(tensor), printable(file));
    }
    names[file].insert(tensor);
  }
  return names;
}

// The tensors of one shard that the index puts there.
void add_shard(std::vector<Tensor>& tensors, const fs::path& path, std::set<std::string> names) {
  ByteReader file(path);
  for (Tensor& tensor : read_safetensors(file)) {
    if (names.erase(tensor.name) > 0) tensors.push_back(std::move(tensor));
  }
  if (!names.empty()) {
    fail(Blame::kInput, "{}: does not hold tensor '{}', which the index puts there", quoted(path),
         printable(*names.begin()));
  }
}

}  // namespace

bool looks_like_safetensors(std::string_view first_bytes) {
  // No text has a zero byte among its first eight, and no length below 2^56 lacks one.
  const bool binary = first_bytes.substr(0, 8).find('\0') != std::string_view::npos;
  if (first_bytes.size() <= 8) return binary;
  return first_bytes[8] == '{' && (binary || first_bytes[0] != '{');
}

std::vector<Tensor> read_safetensors(ByteReader& file) {
  const json header = read_header(file);
  const std::string where = quoted(file.path());
  std::vector<Tensor> tensors;
  std::vector<Span> spans;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    spans.emplace_back();
    tensors.push_back(read_tensor(name, entry, file.path(), spans.back()));
    tensors.back().piece.offset += file.position();
  }
  check_spans(spans, file.remaining(), where);
  check_filled(spans, file.remaining(), where);
  return tensors;
}

Model model_from_safetensors(ByteReader& file) {
  Model model;
  model.name = name_from_path(file.path());
  const Extent extent = extent_of(file.path());
  add_tensors(model, read_safetensors(file), extent, quoted(file.path()),
              QuantisationConfig::beside(file.path()));
  if (extent == Extent::kPart) {
    model.notes.emplace_back(
        "one file of several: only its own weights are listed and counted; give "
        "model.safetensors.index.json");
  }
  return model;
}

Model model_from_index(const json& index, const fs::path& path) {
  std::vector<Tensor> tensors;
  for (auto& [shard, names] : read_weight_map(index, quoted(path))) {
    add_shard(tensors, path.parent_path() / shard, names);
  }
  Model model;
  model.name = name_from_path(path);
  add_tensors(model, tensors, Extent::kWhole, quoted(path), QuantisationConfig::beside(path));
  return model;
}

}  // namespace tare::problem
