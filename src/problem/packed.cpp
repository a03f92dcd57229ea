#include "problem/packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "problem/byte_reader.h"
#include "problem/shape.h"

namespace tare::problem {
namespace {

constexpr std::uint64_t kWordBits = 32;

// What a matrix cannot be read for: an answer, not an error.
struct Unread {
  std::string why;
};

// The tensors of one module.
class Module {
 public:
  Module(const Tensor& codes, const TensorsByName& tensors)
      : codes_(codes), tensors_(tensors), name_(codes.name.substr(0, codes.name.rfind('.'))) {}

  const std::string& name() const { return name_; }
  const Tensor& codes() const { return codes_; }
  const Tensor* find(std::string_view part) const {
    const auto found = tensors_.find(fmt::format("{}.{}", name_, part));
    return found == tensors_.end() ? nullptr : found->second;
  }
  const Tensor& need(std::string_view part, std::size_t rank) const {
    const Tensor* const tensor = find(part);
    if (tensor == nullptr) throw Unread{fmt::format("there is no '{}' beside it", part)};
    if (tensor->shape.size() != rank)
      throw Unread{fmt::format("'{}' has {} dimensions", part, tensor->shape.size())};
    return *tensor;
  }

 private:
  const Tensor& codes_;
  const TensorsByName& tensors_;
  std::string name_;
};

// `count` little-endian numbers of a tensor, from its start.
template <typename Unsigned>
std::vector<Unsigned> numbers_in(const Piece& piece, std::uint64_t count) {
  ByteReader file(piece.file);
  file.skip(piece.offset, "a tensor");
  const std::string bytes = file.read_bytes(count * sizeof(Unsigned), "a tensor");
  std::vector<Unsigned> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte)
      numbers[i] |= static_cast<Unsigned>(
          Unsigned{static_cast<unsigned char>(bytes[i * sizeof(Unsigned) + byte])} << (8 * byte));
  return numbers;
}

std::uint64_t divided(std::uint64_t number, std::uint64_t by, const char* what) {
  if (by == 0 || number == 0 || number % by != 0)
    throw Unread{fmt::format("{} {} is no multiple of {}", what, number, by)};
  return number / by;
}

void require(bool holds, const char* why) {
  if (!holds) throw Unread{why};
}

void require_scales(const Tensor& scales) {
  if (scales.type != "F16" && scales.type != "BF16" && scales.type != "F32")
    throw Unread{fmt::format("its scales are {}", scales.type)};
}

// Half of the range of codes in every place of a word, less `less`.
std::uint32_t symmetric_word(std::uint32_t bits, std::uint32_t less) {
  std::uint32_t word = 0;
  for (std::uint32_t at = 0; at < kWordBits; at += bits) word |= ((1U << (bits - 1)) - less) << at;
  return word;
}

// Read piece by piece: most zeros of GPTQ are alike, and a broken file can claim any number.
bool all_are(const Piece& words, std::uint32_t wanted) {
  constexpr std::uint64_t kAtOnce = 1 << 20;
  ByteReader file(words.file);
  file.skip(words.offset, "a tensor");
  for (std::uint64_t left = words.bytes; left > 0;) {
    const std::string bytes = file.read_bytes(std::min(left, kAtOnce), "a tensor");
    for (std::size_t at = 0; at + sizeof wanted <= bytes.size(); at += sizeof wanted)
      if (std::memcmp(bytes.data() + at, &wanted, sizeof wanted) != 0) return false;
    left -= bytes.size();
  }
  return true;
}

// The groups of k, and whether they are those of i / group.
void read_order(const Tensor* order, std::uint64_t k, Storage& storage) {
  if (order == nullptr || order->shape.empty() || order->shape[0] == 0) return;
  require(order->shape.size() == 1 && order->shape[0] == k && order->type == "I32" &&
              k <= kMostDimension,
          "its g_idx is not int32 [k]");
  storage.order = order->piece;
  const auto groups = numbers_in<std::uint32_t>(order->piece, k);
  for (std::uint64_t i = 0; i < k; ++i) storage.reordered |= groups[i] != i / storage.group;
}

void require_word_bits(std::uint32_t bits) {
  if (bits != 2 && bits != 4 && bits != 8)
    throw Unread{fmt::format("codes of {} bits are not read", bits)};
}

PackedMatrix read_mlx(const Module& module, const QuantisationConfig& config) {
  const Tensor &codes = module.codes(), &scales = module.need("scales", 2);
  if (scales.type == "U8") throw Unread{"scales of 8 bits (mxfp4, mxfp8, nvfp4) are not read"};
  const Tensor& biases = module.need("biases", 2);
  require_scales(scales);
  require(biases.shape == scales.shape && biases.type == scales.type &&
              scales.shape[0] == codes.shape[0],
          "its scales and biases do not fit it");
  // Bits and group are not in the file: their product is.
  const std::uint64_t product =
      divided(codes.shape[1] * kWordBits, scales.shape[1], "its row of bits");
  constexpr std::uint64_t kUsualGroup = 64;  // of mlx.core.quantize
  const auto said = config.mlx(module.name());
  QuantisationConfig::Affine affine = said.value_or(QuantisationConfig::Affine{});
  if (!said)
    affine = {static_cast<std::uint32_t>(divided(product, kUsualGroup, "bits of a group,")),
              kUsualGroup};
  if (affine.bits * affine.group != product)
    throw Unread{
        fmt::format("config.json says {} bits in groups of {}, and its shapes say {} bits a group",
                    affine.bits, affine.group, product)};
  require(affine.bits >= 2 && affine.bits <= 8 && affine.bits != 7, "it has no bits of MLX's");
  Storage storage{.scheme = Scheme::kMlx, .bits = affine.bits, .group = affine.group};
  storage.codes = codes.piece, storage.scales = scales.piece, storage.zeros = biases.piece;
  return {scales.shape[1] * affine.group, codes.shape[0], storage, ""};
}

PackedMatrix read_gptq(const Module& module, const QuantisationConfig& config) {
  const Tensor &codes = module.codes(), &scales = module.need("scales", 2),
               &zeros = module.need("qzeros", 2);
  require_scales(scales);
  const std::uint64_t n = codes.shape[1];
  require(scales.shape[1] == n && zeros.shape[0] == scales.shape[0] && zeros.type == "I32",
          "its scales and zeros do not fit it");
  Storage storage{.scheme = Scheme::kGptq};
  storage.bits =
      static_cast<std::uint32_t>(divided(zeros.shape[1] * kWordBits, n, "its row of zeros' bits"));
  require_word_bits(storage.bits);
  const std::uint64_t k = codes.shape[0] * (kWordBits / storage.bits);
  storage.group = divided(k, scales.shape[0], "k =");
  storage.zeros_less_one = config.zeros_less_one();
  storage.codes = codes.piece, storage.scales = scales.piece, storage.zeros = zeros.piece;
  storage.has_zeros =
      !all_are(zeros.piece, symmetric_word(storage.bits, storage.zeros_less_one ? 1 : 0));
  read_order(module.find("g_idx"), k, storage);
  return {k, n, storage, ""};
}

PackedMatrix read_awq(const Module& module) {
  const Tensor &codes = module.codes(), &scales = module.need("scales", 2),
               &zeros = module.need("qzeros", 2);
  require_scales(scales);
  const std::uint64_t k = codes.shape[0], n = codes.shape[1] * 8;
  require(scales.shape[1] == n && zeros.shape[0] == scales.shape[0] &&
              zeros.shape[1] == codes.shape[1] && zeros.type == "I32",
          "its scales and zeros do not fit it");
  Storage storage{.scheme = Scheme::kAwq, .bits = 4};
  storage.group = divided(k, scales.shape[0], "k =");
  storage.codes = codes.piece, storage.scales = scales.piece, storage.zeros = zeros.piece;
  storage.has_zeros = !all_are(zeros.piece, symmetric_word(4, 0));
  return {k, n, storage, ""};
}

// n and k as the file says them.
std::pair<std::uint64_t, std::uint64_t> shape_in(const Tensor& shape) {
  require(shape.shape[0] == 2, "its weight_shape is not [n, k]");
  if (shape.type == "I64") {
    const auto numbers = numbers_in<std::uint64_t>(shape.piece, 2);
    return {numbers[0], numbers[1]};
  }
  require(shape.type == "I32", "its weight_shape is not int32 or int64");
  const auto numbers = numbers_in<std::uint32_t>(shape.piece, 2);
  return {numbers[0], numbers[1]};
}

PackedMatrix read_compressed(const Module& module) {
  const Tensor &codes = module.codes(), &scales = module.need("weight_scale", 2);
  require_scales(scales);
  const auto [n, k] = shape_in(module.need("weight_shape", 1));
  require(codes.shape[0] == n && scales.shape[0] == n, "its scales and its shape do not fit it");
  Storage storage{.scheme = Scheme::kCompressed};
  storage.bits =
      static_cast<std::uint32_t>(divided(codes.shape[1] * kWordBits, k, "its row of bits"));
  require_word_bits(storage.bits);
  storage.group = divided(k, scales.shape[1], "k =");
  storage.codes = codes.piece, storage.scales = scales.piece;
  if (const Tensor* zeros = module.find("weight_zero_point")) {
    const std::vector<std::uint64_t> wanted{(n * storage.bits + kWordBits - 1) / kWordBits,
                                            scales.shape[1]};
    require(zeros->type == "I32" && zeros->shape == wanted,
            "its zero points are not packed as its codes");
    storage.zeros = zeros->piece;
    storage.has_zeros = true;
  }
  read_order(module.find("weight_g_idx"), k, storage);
  return {k, n, storage, ""};
}

PackedMatrix read_int8(const Module& module) {
  const Tensor &codes = module.codes(), &scales = *module.find("weight_scale");
  const std::uint64_t n = codes.shape[0], k = codes.shape[1];
  require_scales(scales);
  require(scales.piece.bytes == n * (scales.type == "F32" ? 4 : 2),
          "it has not one scale an output");
  Storage storage{.scheme = Scheme::kInt8, .bits = 8, .group = k};
  storage.codes = codes.piece, storage.scales = scales.piece;
  return {k, n, storage, ""};
}

std::optional<PackedMatrix> read(const Module& module, const QuantisationConfig& config) {
  const Tensor& codes = module.codes();
  const std::string_view part = std::string_view(codes.name).substr(module.name().size() + 1);
  if (part == "weight" && codes.type == "U32") return read_mlx(module, config);
  if (part == "weight" && codes.type == "I8" && module.find("weight_scale") != nullptr)
    return read_int8(module);
  if (part == "weight_packed" && codes.type == "I32") return read_compressed(module);
  if (part != "qweight" || codes.type != "I32") return std::nullopt;
  // Which of the two it is, the scales say: one for each column of n.
  const bool along_k = module.need("scales", 2).shape[1] == codes.shape[1];
  return along_k ? read_gptq(module, config) : read_awq(module);
}

}  // namespace

std::optional<PackedMatrix> read_packed(const Tensor& codes, const TensorsByName& tensors,
                                        const QuantisationConfig& config) {
  if (codes.shape.size() != 2 || codes.name.find('.') == std::string::npos) return std::nullopt;
  try {
    return read(Module(codes, tensors), config);
  } catch (const Unread& unread) {
    PackedMatrix matrix;
    matrix.unread = unread.why;
    return matrix;
  }
}

}  // namespace tare::problem
