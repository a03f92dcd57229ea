#include "problem/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "formats/weight_format.h"

namespace tare::problem {
namespace {

using formats::Family;
using formats::WeightFormat;

// The nearest format must have as many bytes as this, or nearly: a row of the table is about bytes.
constexpr double kMostApart = 0.1 + 1e-9;

struct Packer {
  Scheme scheme;
  std::string_view name;
};
constexpr std::array<Packer, 5> kPackers = {{{Scheme::kMlx, "mlx"},
                                             {Scheme::kGptq, "gptq"},
                                             {Scheme::kAwq, "awq"},
                                             {Scheme::kCompressed, "ct"},
                                             {Scheme::kInt8, "ct"}}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return result;
}

// A name of name_of(), taken apart.
struct Named {
  bool affine = false;  // scale * code + bias
  std::uint32_t bits = 0;
  std::uint64_t group = 0;  // 0: all of an output's
  bool zeros = false;
  bool reordered = false;
  std::string scales = "bf16";
};

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('-', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <typename Number>
bool parse(std::string_view digits, Number& into) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
  return error == std::errc() && end == digits.data() + digits.size();
}

bool parse_packer(std::string_view part, Named& into) {
  for (const Packer& packer : kPackers) {
    if (!part.starts_with(packer.name)) continue;
    into.affine = packer.scheme == Scheme::kMlx;
    return parse(part.substr(packer.name.size()), into.bits);
  }
  return false;
}

std::optional<Named> parse_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name);
  Named named;
  if (parts.size() < 2 || !parse_packer(parts[0], named)) return std::nullopt;
  if (parts[1] != "channel" &&
      !(parts[1].starts_with('g') && parse(parts[1].substr(1), named.group)))
    return std::nullopt;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    if (parts[i] == "zeros")
      named.zeros = true;
    else if (parts[i] == "act" || parts[i] == "order")
      named.reordered = true;
    else
      named.scales = parts[i];
  }
  return named;
}

double per_weight(double bits, std::uint64_t group) {
  return group == 0 ? 0 : bits / static_cast<double>(group);
}

double bits_of(const Named& named) {
  const double scale = named.scales == "f32" ? 32 : 16;
  return named.bits + per_weight(scale, named.group) * (named.affine ? 2 : 1) +
         (named.zeros ? per_weight(named.bits, named.group) : 0);
}

double code_bits(const WeightFormat& format) {
  return 8 * static_cast<double>(format.block_bytes) / static_cast<double>(format.block);
}

double bits_of(const WeightFormat& format) {
  const std::uint64_t bias_bytes = format.has_bias ? format.bias_bytes() : 0;
  return code_bits(format) + per_weight(16 + 8 * static_cast<double>(bias_bytes), format.group);
}

// Zeros count for more than bytes, these for more than the type of scales.
WeighedAs nearest(const Named& named) {
  WeighedAs best{0, false, bits_of(named)};
  std::tuple nearest{true, kMostApart, true};
  for (const WeightFormat& format : formats::weight_formats()) {
    const bool affine = format.has_bias && !format.has_zeros;
    if (format.family != Family::kPlanes || affine != named.affine ||
        code_bits(format) != named.bits)
      continue;
    const double apart = std::abs(1 - bits_of(format) / best.bits);
    const bool same_scales = formats::type_name(format.scales) == named.scales;
    const std::tuple from{format.has_zeros != named.zeros, apart, !same_scales};
    if (apart > kMostApart || from > nearest) continue;
    nearest = from;
    best.type = format.type;
    best.itself = same_scales && format.group == named.group && format.has_zeros == named.zeros &&
                  !named.reordered;
  }
  return best;
}

}  // namespace

std::string name_of(const Storage& storage, std::uint64_t k) {
  const auto* const packer = std::ranges::find(kPackers, storage.scheme, &Packer::scheme);
  if (packer == kPackers.end()) return storage.codes.type;
  const std::string group =
      storage.group == k ? std::string("channel") : fmt::format("g{}", storage.group);
  const std::string scales = lower(storage.scales.type);
  return fmt::format("{}{}-{}{}{}{}", packer->name, storage.bits, group,
                     storage.has_zeros ? "-zeros" : "", storage.reordered ? "-act-order" : "",
                     scales == "bf16" ? "" : "-" + scales);
}

WeighedAs weighed_as(std::string_view stored) {
  if (const std::optional<Named> named = parse_name(stored)) return nearest(*named);
  // The names of the other formats are those of the files in lower case.
  const std::string name = lower(stored);
  const WeightFormat* format = formats::find_format(name);
  if (format != nullptr && format->family != Family::kPlanes)
    return {format->type, true, code_bits(*format)};
  // As many bytes, of other numbers.
  if (name == "i8" || name.starts_with("f8_")) return {TARE_INT8_CHANNEL, false, 8};
  return {};
}

}  // namespace tare::problem
