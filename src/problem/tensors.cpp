#include "problem/tensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "base/error.h"
#include "formats/weight_format.h"
#include "problem/packed.h"
#include "problem/projections.h"
#include "problem/shape.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

// Weights that are there and not listed, for one reason.
struct Unlisted {
  std::uint64_t count = 0;
  std::string example;
};
using UnlistedByReason = std::map<std::string, Unlisted>;

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

Storage plain_storage(const Tensor& tensor) {
  const formats::WeightFormat* format = formats::find_format(weight_type(tensor.type));
  if (format == nullptr || format->family == formats::Family::kPlanes) return {};
  Storage storage;
  storage.scheme = format->family == formats::Family::kPlain ? Scheme::kPlain : Scheme::kBlocks;
  storage.codes = tensor.piece;
  return storage;
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

std::uint32_t bias_beside(const Tensor& matrix, std::uint64_t n, const BiasesByStem& biases) {
  const auto found = biases.find(stem_of(matrix.name));
  if (found == biases.end() || found->second->shape[0] != n) return 0;
  return bias_type(found->second->type);
}

// Gathers matrices of one file.
class Gathering {
 public:
  Gathering(const std::vector<Tensor>& tensors, const QuantisationConfig& config,
            std::string_view where)
      : config_(config), where_(where), biases_(biases_of(tensors)) {
    for (const Tensor& tensor : tensors) by_name_[tensor.name] = &tensor;
  }

  void add(const Tensor& tensor, const std::string& name) {
    const std::optional<PackedMatrix> packed = read_packed(tensor, by_name_, config_);
    if (packed && packed->unread.empty())
      add(tensor, name, packed->k, packed->n, packed->storage);
    else if (packed)
      leave_out(tensor, packed->unread);
    else if (tensor.packed)
      leave_out(tensor, fmt::format("{} of a kind that is not read", tensor.type));
    else
      add(tensor, name, tensor.shape[1], tensor.shape[0], plain_storage(tensor));
  }

  const ProjectionList& list() const { return list_; }

  // "7 weights are stored packed (...): ...".
  std::vector<std::string> unlisted() const {
    std::vector<std::string> notes;
    for (const auto& [why, unlisted] : unlisted_)
      notes.push_back(fmt::format(
          "{} weights are stored packed and not listed ({}, for example '{}'); give the "
          "model's config.json for their shapes",
          unlisted.count, why, unlisted.example));
    return notes;
  }

 private:
  void add(const Tensor& tensor, const std::string& name, std::uint64_t k, std::uint64_t n,
           const Storage& storage) {
    check_shape(k, n, fmt::format("{}: tensor '{}'", where_, printable(tensor.name)));
    const bool packed = storage.scheme > Scheme::kBlocks;
    const std::string stored = packed ? name_of(storage, k) : tensor.type;
    if (packed && weight_type(stored) == 0)
      return leave_out(tensor, fmt::format("{}: nothing here has {:.4g} bits a weight", stored,
                                           weighed_as(stored).bits));
    list_.add({name,
               layer_in(tensor.name),
               k,
               n,
               stored,
               {},
               bias_beside(tensor, n, biases_),
               printable(tensor.name),
               storage});
  }

  void leave_out(const Tensor& tensor, const std::string& why) {
    Unlisted& unlisted = unlisted_[why];
    if (unlisted.count++ == 0) unlisted.example = printable(tensor.name);
  }

  const QuantisationConfig& config_;
  std::string_view where_;
  BiasesByStem biases_;
  TensorsByName by_name_;
  ProjectionList list_;
  UnlistedByReason unlisted_;
};

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
                 std::string_view where, const QuantisationConfig& config) {
  Gathering gathering(tensors, config, where);
  bool experts = false;
  for (const Tensor& tensor : tensors) {
    if (tensor.meaning.role == Role::kExpert) experts = true;
    if (tensor.meaning.role != Role::kProjection || tensor.shape.size() != 2) continue;
    gathering.add(tensor, tensor.meaning.projection);
  }
  const ProjectionList& list = gathering.list();
  const Tensor* const head =
      extent == Extent::kWhole && !list.empty() ? find_tied_head(tensors) : nullptr;
  if (head != nullptr) gathering.add(*head, "lm_head");

  const std::vector<std::string> unlisted = gathering.unlisted();
  if (list.empty() && !unlisted.empty()) fail(Blame::kInput, "{}: {}", where, unlisted.front());
  if (list.empty()) {
    fail(Blame::kInput, "{}: none of its {} tensors is the weight matrix of a projection", where,
         tensors.size());
  }
  model.notes.insert(model.notes.end(), unlisted.begin(), unlisted.end());
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
