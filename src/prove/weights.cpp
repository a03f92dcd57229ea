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

RowParts parts_of(const Layout& layout, std::uint64_t row, void* weights) {
  auto* bytes = static_cast<std::uint8_t*>(weights);
  const std::uint64_t plane = row * layout.groups * 2;
  return {bytes + row * layout.code_row, bytes + layout.scales + plane,
          bytes + layout.biases + plane};
}

DataKey data_key(const WeightKey& key) {
  return {key.data, key.type, key.k, key.seed, key.slot};
}

}  // namespace

std::uint64_t weight_buffer_bytes(const WeightKey& key) {
  return formats::layout_of(formats::format_of(key.type), key.k, key.n).total_bytes;
}

void generate_slot(const WeightKey& key, void* into) {
  if (key.data == Data::kModel) return load::lay_down(*key.model, key.type, into);
  if (key.type == TARE_BF16 &&
      key.data == Data::kUsual) {  // many rings are, and no row has to be cut out
    generate_weights(key.seed, key.slot, 0, {static_cast<Bf16*>(into), key.k * key.n});
    return;
  }
  const WeightFormat& format = formats::format_of(key.type);
  const Layout layout = formats::layout_of(format, key.k, key.n);
  std::vector<float> row(key.k);
  for (std::uint64_t j = 0; j < key.n; ++j) {
    draw_weights(data_key(key), j, row);
    quantise_row(format, row, parts_of(layout, j, into));
  }
}

void generate_row(const WeightKey& key, std::uint64_t row, std::vector<double>& into) {
  if (key.data == Data::kModel) return load::original_row(*key.model, row, into);
  const WeightFormat& format = formats::format_of(key.type);
  const Layout layout = formats::layout_of(format, key.k, 1);
  std::vector<float> values(key.k);
  draw_weights(data_key(key), row, values);
  std::vector<std::uint8_t> bytes(layout.total_bytes);
  quantise_row(format, values, parts_of(layout, 0, bytes.data()));
  formats::dequantise_row(format, key.k, 1, bytes.data(), 0, into);
}

}  // namespace tare::prove
