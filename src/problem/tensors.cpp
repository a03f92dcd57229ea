#include "problem/tensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "problem/projections.h"
#include "problem/shape.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

struct Packed {
  std::uint64_t count = 0;
  std::string example;
  std::set<std::string> types;
};

// The first part of the name that is a number: "model.layers.3.mlp.up_proj.weight", "blk.3.ffn_up".
std::optional<std::uint64_t> layer_in(std::string_view name) {
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('.'));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error == std::errc() && end == part.data() + part.size()) return number;
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return std::nullopt;
}

// The name without its last part: "blk.3.attn_q" of "blk.3.attn_q.weight" and of its ".bias".
std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.rfind('.'));
}

// Vectors that end in ".bias", by what they belong to.
using BiasesByStem = std::map<std::string, const Tensor*, std::less<>>;

BiasesByStem biases_of(const std::vector<Tensor>& tensors) {
  BiasesByStem biases;
  for (const Tensor& tensor : tensors)
    if (tensor.name.ends_with(".bias") && tensor.shape.size() == 1)
      biases.emplace(stem_of(tensor.name), &tensor);
  return biases;
}

std::uint32_t bias_beside(const Tensor& matrix, const BiasesByStem& biases) {
  const auto found = biases.find(stem_of(matrix.name));
  if (found == biases.end() || found->second->shape[0] != matrix.shape[0]) return 0;
  return bias_type(found->second->type);
}

void add_matrix(ProjectionList& list, const Tensor& tensor, std::string_view name,
                const BiasesByStem& biases, std::string_view where) {
  const std::uint64_t n = tensor.shape[0];
  const std::uint64_t k = tensor.shape[1];
  check_shape(k, n, fmt::format("{}: tensor '{}'", where, printable(tensor.name)));
  list.add({std::string(name),
            layer_in(tensor.name),
            k,
            n,
            tensor.type,
            {},
            bias_beside(tensor, biases)});
}

void note_packed(Packed& packed, const Tensor& tensor) {
  if (packed.count == 0) packed.example = printable(tensor.name);
  packed.types.insert(tensor.type);
  ++packed.count;
}

std::string describe(const Packed& packed) {
  return fmt::format(
      "{} weights are stored packed (as {}, for example '{}') and their shapes are not read; give "
      "the model's config.json instead",
      packed.count, fmt::join(packed.types, ", "), packed.example);
}

// The token table of a model without a head of its own is its head.
const Tensor* find_tied_head(const std::vector<Tensor>& tensors) {
  const Tensor* table = nullptr;
  for (const Tensor& tensor : tensors) {
    if (tensor.meaning.projection == "lm_head") return nullptr;
    if (tensor.meaning.role == Role::kEmbedding && tensor.shape.size() == 2) table = &tensor;
  }
  return table;
}

}  // namespace

Extent extent_of(const std::filesystem::path& path) {
  const bool part = path.stem().string().find("-of-0") != std::string::npos;
  return part ? Extent::kPart : Extent::kWhole;
}

void add_tensors(Model& model, const std::vector<Tensor>& tensors, Extent extent,
                 std::string_view where) {
  const BiasesByStem biases = biases_of(tensors);
  ProjectionList list;
  Packed packed;
  bool experts = false;
  for (const Tensor& tensor : tensors) {
    if (tensor.meaning.role == Role::kExpert) experts = true;
    if (tensor.meaning.role != Role::kProjection || tensor.shape.size() != 2) continue;
    if (tensor.packed) {
      note_packed(packed, tensor);
    } else {
      add_matrix(list, tensor, tensor.meaning.projection, biases, where);
    }
  }
  const Tensor* const head =
      extent == Extent::kWhole && !list.empty() ? find_tied_head(tensors) : nullptr;
  if (head != nullptr && !head->packed) add_matrix(list, *head, "lm_head", biases, where);

  if (list.empty() && packed.count > 0) fail(Blame::kInput, "{}: {}", where, describe(packed));
  if (list.empty()) {
    fail(Blame::kInput, "{}: none of its {} tensors is the weight matrix of a projection", where,
         tensors.size());
  }
  if (packed.count > 0) model.notes.push_back(describe(packed));
  if (experts) model.notes.emplace_back(kExpertsNote);
  model.projections = list.merged();
  model.matrices = list.in_order();
  model.weights_per_token = list.elements();
}

void check_spans(std::vector<Span>& spans, std::uint64_t size, std::string_view where) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  std::uint64_t end = 0;
  for (const Span& span : spans) {
    if (span.offset > size || span.bytes > size - span.offset) {
      fail(Blame::kInput,
           "{}: cut short or broken: tensor '{}' takes {} bytes from byte {} of the data, which "
           "has {}",
           where, printable(span.name), span.bytes, span.offset, size);
    }
    if (span.offset < end) {
      fail(Blame::kInput,
           "{}: broken: tensor '{}' begins at byte {} of the data, inside the tensor before it, "
           "which ends at {}",
           where, printable(span.name), span.offset, end);
    }
    end = span.offset + span.bytes;
  }
}

}  // namespace tare::problem
