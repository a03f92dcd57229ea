#include "formats/weight_format.h"
#include "kernels/cuda/grouped.h"
#include "kernels/cuda/pack.cuh"

namespace tare::kernels::cuda {
namespace {

// Where W[n, k] lies as handed over, and what packing needs of a plan.
struct Source {
  const unsigned char* codes;
  const std::uint16_t *scales, *biases;
  std::uint64_t k, n, groups;  // groups: of an output; one scale an output: 1
  std::uint64_t stages, units;
  QueueOrder order;
  GroupedFormat format;
};

__device__ std::uint32_t code_of(const Source& from, std::uint64_t output, std::uint64_t k) {
  if (output >= from.n || k >= from.k) return 0;
  if (from.format.bits == 8)
    return from.codes[output * from.k + k] ^ (from.format.from_zero ? 0x80U : 0U);
  return from.codes[(output * from.k + k) / 2] >> (k % 2 * 4) & 0xfU;
}

// Of a strip's stage: what it begins with, and the 16-byte unit in it.
struct Place {
  std::uint64_t output, k, unit;
};

__device__ uint4 codes_at(const Source& from, const Place& at) {
  const std::uint32_t lane = at.unit % 32, planes = from.format.bits / 4;
  const std::uint32_t plane = at.unit / 32 % planes, half = at.unit / (32 * planes) % 2;
  const std::uint64_t k = at.k + at.unit / (64 * planes) * kUnitDepth + lane % 4 * 16;
  const std::uint64_t output = at.output + half * 16 + lane / 4;
  // Element e of register i of a product.
  const auto code = [&](std::uint32_t product, std::uint32_t i, std::uint32_t e) {
    return code_of(from, output + i % 2 * 8, k + product * 4 + i / 2 * 2 + e);
  };
  std::uint32_t words[4] = {};
  for (std::uint32_t w = 0; w < 4; ++w)
    for (std::uint32_t i = 0; i < (from.format.bits == 4 ? 4 : 2); ++i)
      for (std::uint32_t e = 0; e < 2; ++e)
        words[w] |= from.format.bits == 4
                        ? code(w, i, e) << (4 * i + 16 * e)
                        : code(2 * plane + w / 2, w % 2 * 2 + i, e) << (8 * i + 16 * e);
  return {words[0], words[1], words[2], words[3]};
}

__device__ uint4 scales_at(const Source& from, const Place& at) {
  const std::uint32_t bytes = from.format.scale_bytes, each = 16 / bytes;  // outputs of a unit
  std::uint32_t words[4] = {};
  for (std::uint32_t i = 0; i < each; ++i) {
    const std::uint64_t index = at.unit * each + i, group_in_stage = index / kGroupedOutputs;
    const std::uint64_t output = at.output + index % 4 * 8 + index / 4 % 8;
    const std::uint64_t group =
        from.groups == 1 ? 0 : at.k / (kUnitDepth * from.format.group_units) + group_in_stage;
    if (output >= from.n || group >= from.groups) continue;
    const std::uint32_t scale = from.scales[output * from.groups + group];
    if (from.format.biased)
      words[i] = scale | std::uint32_t{from.biases[output * from.groups + group]} << 16;
    else
      words[i / 2] |= scale << (i % 2 * 16);
  }
  return {words[0], words[1], words[2], words[3]};
}

__global__ void pack(const Source from, uint4* packed) {
  const std::uint64_t index = packed_unit();
  if (index >= from.units) return;
  const std::uint64_t strip_units = from.format.strip_bytes / 16;
  const std::uint64_t code_units = from.format.code_bytes / 16;
  const std::uint64_t unit = index % strip_units;
  const QueueOrder::Strip at = from.order.strip_at(index / strip_units);
  const std::uint64_t output = at.strip * kGroupedOutputs;
  const std::uint64_t k = (at.part * from.stages + at.stage) * kGroupedDepth;
  packed[index] = unit < code_units ? codes_at(from, {output, k, unit})
                                    : scales_at(from, {output, k, unit - code_units});
}

}  // namespace

cudaError_t grouped_pack(const GroupedPlan& plan, const void* weights, void* packed,
                         cudaStream_t stream) {
  const formats::Layout layout = formats::layout_of(formats::format_of(plan.type), plan.k, plan.n);
  const auto* bytes = static_cast<const unsigned char*>(weights);
  const Source from{bytes,
                    reinterpret_cast<const std::uint16_t*>(bytes + layout.scales),
                    reinterpret_cast<const std::uint16_t*>(bytes + layout.biases),
                    plan.k,
                    plan.n,
                    layout.groups,
                    plan.stages(),
                    plan.weight_bytes() / 16,
                    plan.order(),
                    *grouped_format(plan.type)};
  return launch_packing(pack, from.units, stream, from, static_cast<uint4*>(packed));
}

}  // namespace tare::kernels::cuda
