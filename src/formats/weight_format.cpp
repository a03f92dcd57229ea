#include "formats/weight_format.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace tare::formats {
namespace {

constexpr std::uint64_t kPartAlignment = 64;
constexpr std::uint64_t kScaleBytes = 2;  // bf16 or f16

constexpr std::array<WeightFormat, 20> kFormats = {{
    {TARE_BF16, "bf16", Family::kPlain, 1, 1, 2, false},
    {TARE_F16, "f16", Family::kPlain, 1, 1, 2, false},
    {TARE_F32, "f32", Family::kPlain, 1, 1, 4, false},
    {TARE_INT8_CHANNEL, "int8", Family::kPlanes, 0, 1, 1, false, TARE_BF16},
    {TARE_INT8_G128, "int8-g128", Family::kPlanes, 128, 128, 128, false, TARE_BF16},
    {TARE_INT4_G128, "int4-g128", Family::kPlanes, 128, 128, 64, false, TARE_BF16},
    {TARE_MLX_INT8_G64, "mlx-int8-g64", Family::kPlanes, 64, 64, 64, true, TARE_BF16},
    {TARE_MLX_INT4_G64, "mlx-int4-g64", Family::kPlanes, 64, 64, 32, true, TARE_BF16},
    {TARE_INT4_G128_F16, "int4-g128-f16", Family::kPlanes, 128, 128, 64, false, TARE_F16},
    {TARE_INT8_CHANNEL_F16, "int8-f16", Family::kPlanes, 0, 1, 1, false, TARE_F16},
    {TARE_INT8_G128_F16, "int8-g128-f16", Family::kPlanes, 128, 128, 128, false, TARE_F16},
    {TARE_MLX_INT4_G64_F16, "mlx-int4-g64-f16", Family::kPlanes, 64, 64, 32, true, TARE_F16},
    {TARE_MLX_INT8_G64_F16, "mlx-int8-g64-f16", Family::kPlanes, 64, 64, 64, true, TARE_F16},
    {TARE_INT4_G128_ZEROS, "int4-g128-zeros", Family::kPlanes, 128, 128, 64, true, TARE_BF16, true},
    {TARE_INT4_G128_ZEROS_F16, "int4-g128-zeros-f16", Family::kPlanes, 128, 128, 64, true, TARE_F16,
     true},
    {TARE_GGUF_Q8_0, "q8_0", Family::kBlocks, 32, 32, 34, false},
    {TARE_GGUF_Q4_0, "q4_0", Family::kBlocks, 32, 32, 18, false},
    {TARE_GGUF_Q5_0, "q5_0", Family::kBlocks, 32, 32, 22, false},
    {TARE_GGUF_Q4_K, "q4_k", Family::kBlocks, 32, 256, 144, true},
    {TARE_GGUF_Q6_K, "q6_k", Family::kBlocks, 16, 256, 210, false},
}};

constexpr std::string_view kAsInt8 = "bf16-as-int8";

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

// Of one element of tare_problem::bias.
std::uint64_t bias_bytes(std::uint32_t bias) {
  const WeightFormat& format = format_of(bias);
  if (format.family != Family::kPlain)
    fail(Blame::kInput, "a bias of {}: it must be bf16, f16 or f32", format.name);
  return format.block_bytes;
}

double scale_bytes_of_row(const WeightFormat& format, double k) {
  if (format.family != Family::kPlanes) return 0;
  const double groups = format.group == 0 ? 1 : k / static_cast<double>(format.group);
  return groups * static_cast<double>(kScaleBytes + (format.has_bias ? format.bias_bytes() : 0));
}

}  // namespace

std::span<const WeightFormat> weight_formats() {
  return kFormats;
}

const WeightFormat* find_format(std::uint32_t type) {
  const auto* const found = std::ranges::find(kFormats, type, &WeightFormat::type);
  return found == kFormats.end() ? nullptr : found;
}

const WeightFormat* find_format(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &WeightFormat::name);
  return found == kFormats.end() ? nullptr : found;
}

const WeightFormat& format_of(std::uint32_t type) {
  const WeightFormat* format = find_format(type);
  if (format == nullptr) fail(Blame::kInput, "type {} is no weight format of tare/arm.h", type);
  return *format;
}

std::string_view type_name(std::uint32_t type) {
  if (type == TARE_BF16_AS_INT8) return kAsInt8;
  const WeightFormat* format = find_format(type);
  return format == nullptr ? "" : format->name;
}

std::uint64_t value_bytes(std::uint32_t type) {
  return type == TARE_F32 ? sizeof(float) : sizeof(std::uint16_t);
}

std::uint32_t type_number(std::string_view name) {
  if (name == kAsInt8) return TARE_BF16_AS_INT8;
  const WeightFormat* format = find_format(name);
  return format == nullptr ? 0 : format->type;
}

void require_whole_blocks(const WeightFormat& format, std::uint64_t k) {
  if (k % format.block == 0) return;
  fail(Blame::kInput, "{} weights come in blocks of {} along k, and k is {}: give a multiple of {}",
       format.name, format.block, k, format.block);
}

Layout layout_of(const WeightFormat& format, std::uint64_t k, std::uint64_t n, std::uint32_t bias) {
  require_whole_blocks(format, k);
  Layout layout;
  layout.code_row = k / format.block * format.block_bytes;
  layout.groups = format.group == 0 ? 1 : k / format.group;
  layout.total_bytes = n * layout.code_row;
  const auto add_plane = [&](std::uint64_t bytes) {
    const std::uint64_t begin = aligned(layout.total_bytes);
    layout.total_bytes = begin + bytes;
    return begin;
  };
  const std::uint64_t groups = n * layout.groups;
  if (format.family == Family::kPlanes) layout.scales = add_plane(groups * kScaleBytes);
  if (format.family == Family::kPlanes && format.has_bias)
    layout.biases = add_plane(groups * format.bias_bytes());
  if (bias != 0) layout.output_bias = add_plane(n * bias_bytes(bias));
  return layout;
}

Layout layout_of(const tare_problem& problem) {
  return layout_of(format_of(problem.weights), problem.k, problem.n, problem.bias);
}

double weight_bytes(std::uint32_t type, std::uint64_t k, std::uint64_t n, std::uint32_t bias) {
  const WeightFormat* known = find_format(type);
  const WeightFormat& format = known == nullptr ? kFormats.front() : *known;
  const auto columns = static_cast<double>(k);
  const double codes =
      columns / static_cast<double>(format.block) * static_cast<double>(format.block_bytes);
  const auto added = static_cast<double>(bias == 0 ? 0 : bias_bytes(bias));
  return static_cast<double>(n) * (codes + scale_bytes_of_row(format, columns) + added);
}

}  // namespace tare::formats
