#include "prove/weights.h"

#include "formats/decode.h"
#include "load/lay_down.h"
#include "load/original.h"
#include "prove/generator.h"
#include "prove/quantise.h"

namespace tare::prove {
namespace {

using formats::Layout;
using formats::WeightFormat;

RowParts parts_of(const WeightFormat& format, const Layout& layout, std::uint64_t row,
                  void* weights) {
  auto* bytes = static_cast<std::uint8_t*>(weights);
  const std::uint64_t group = row * layout.groups;
  return {bytes + row * layout.code_row, bytes + layout.scales + group * 2,
          bytes + layout.biases + group * format.bias_bytes()};
}

DataKey data_key(const WeightKey& key) {
  return {key.data, key.type, key.k, key.seed, key.slot};
}

Layout layout_of(const WeightKey& key) {
  return formats::layout_of(formats::format_of(key.type), key.k, key.n, key.bias);
}

// Element `output` of the bias, rounded to its type.
void put_bias(const WeightKey& key, std::uint64_t output, std::uint8_t* into) {
  const float value = draw_bias({key.data, key.bias, key.k, key.seed, key.slot}, output);
  quantise_row(formats::format_of(key.bias), {&value, 1}, {into});
}

void generate_matrix(const WeightKey& key, const Layout& layout, void* into) {
  if (key.data == Data::kModel) return load::lay_down(*key.model, key.type, into);
  if (key.type == TARE_BF16 &&
      key.data == Data::kUsual) {  // many rings are, and no row has to be cut out
    generate_weights(key.seed, key.slot, 0, {static_cast<Bf16*>(into), key.k * key.n});
    return;
  }
  const WeightFormat& format = formats::format_of(key.type);
  std::vector<float> row(key.k);
  for (std::uint64_t j = 0; j < key.n; ++j) {
    draw_weights(data_key(key), j, row);
    quantise_row(format, row, parts_of(format, layout, j, into));
  }
}

}  // namespace

std::uint64_t weight_buffer_bytes(const WeightKey& key) {
  return layout_of(key).total_bytes;
}

void generate_slot(const WeightKey& key, void* into) {
  const Layout layout = layout_of(key);
  generate_matrix(key, layout, into);
  if (key.bias == 0) return;
  auto* const plane = static_cast<std::uint8_t*>(into) + layout.output_bias;
  const std::uint64_t bytes = formats::format_of(key.bias).block_bytes;
  for (std::uint64_t j = 0; j < key.n; ++j) put_bias(key, j, plane + j * bytes);
}

void generate_row(const WeightKey& key, std::uint64_t row, std::vector<double>& into) {
  if (key.data == Data::kModel) return load::original_row(*key.model, row, into);
  const WeightFormat& format = formats::format_of(key.type);
  const Layout layout = formats::layout_of(format, key.k, 1);
  std::vector<float> values(key.k);
  draw_weights(data_key(key), row, values);
  std::vector<std::uint8_t> bytes(layout.total_bytes);
  quantise_row(format, values, parts_of(format, layout, 0, bytes.data()));
  formats::dequantise_row(format, key.k, 1, bytes.data(), 0, into);
}

double generate_bias(const WeightKey& key, std::uint64_t row) {
  if (key.bias == 0) return 0;
  std::uint8_t bytes[sizeof(float)];
  put_bias(key, row, bytes);
  std::vector<double> value;
  formats::dequantise_row(formats::format_of(key.bias), 1, 1, bytes, 0, value);
  return value.front();
}

}  // namespace tare::prove
