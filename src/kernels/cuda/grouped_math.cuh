// The arithmetic of weights by group, the same for every way of bringing them: codes become exact
// bf16 integers, a unit of 64 k is summed by mma, and its sum is scaled once.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/grouped_plan.h"
#include "kernels/cuda/ptx.cuh"

namespace tare::kernels::cuda {

constexpr std::uint32_t kOnes = 0x3f803f80U;  // two of bf16
constexpr std::uint32_t k128 = 0x43004300U;   // likewise
constexpr int kProducts = 4;                  // of 16 k, in a unit

// bf16 pairs of mma's first operand, 16 outputs x 64 k.
using Operand = std::uint32_t[kProducts][4];

// (bits & kMask) | k128 in one instruction: of two steps with a constant each, the compiler makes
// two.
template <std::uint32_t kMask>
__device__ __forceinline__ std::uint32_t masked_128(std::uint32_t bits) {
  std::uint32_t value;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(value) : "r"(bits), "n"(kMask), "r"(k128));
  return value;
}

// 128 + code in the 7 bits that bf16 has behind the point at 128.
__device__ __forceinline__ void decode4(const uint4& codes, Operand& into) {
  const std::uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
  for (int product = 0; product < kProducts; ++product)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      into[product][i] = masked_128<0x000f000fU>(words[product] >> (4 * i));
}

// Two's complement in the low bytes of the halves: 128 + the low 7 bits, less 128, or 256 where the
// sign is set. Exact.
__device__ __forceinline__ std::uint32_t decode8(std::uint32_t bytes) {
  const std::uint32_t low = masked_128<0x007f007fU>(bytes);
  const std::uint32_t less = masked_128<0x00800080U>(bytes);
  const __nv_bfloat162 value = __hsub2(reinterpret_cast<const __nv_bfloat162&>(low),
                                       reinterpret_cast<const __nv_bfloat162&>(less));
  return reinterpret_cast<const std::uint32_t&>(value);
}

// A lane's codes of a unit, as they lie: [half: 16 outputs][plane], 512 bytes apart.
template <GroupedFormat kFormat>
struct Codes {
  static constexpr int kPlanes = kFormat.bits / 4;  // of a half
  uint4 planes[2 * kPlanes];
};

template <GroupedFormat kFormat>
__device__ __forceinline__ Codes<kFormat> load_codes(const unsigned char* unit) {
  Codes<kFormat> codes;
#pragma unroll
  for (int plane = 0; plane < 2 * Codes<kFormat>::kPlanes; ++plane)
    codes.planes[plane] = *reinterpret_cast<const uint4*>(unit + plane * 512);
  return codes;
}

template <GroupedFormat kFormat>
__device__ __forceinline__ void decode(const uint4* planes, Operand& into) {
  if constexpr (kFormat.bits == 4) {
    decode4(planes[0], into);
  } else {
    const std::uint32_t words[8] = {planes[0].x, planes[0].y, planes[0].z, planes[0].w,
                                    planes[1].x, planes[1].y, planes[1].z, planes[1].w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      into[i / 2][i % 2 * 2] = decode8(words[i]);
      into[i / 2][i % 2 * 2 + 1] = decode8(words[i] >> 8);
    }
  }
}

// Scales of a lane's four outputs, lane / 4 + 0, 8, 16, 24 of the strip, and what the sum of x is
// multiplied by: bias + scale * offset. That rounding is one of 2^-24 of 136 scales.
struct Scales {
  float scale[4], bias[4];
};

__device__ __forceinline__ float low_half(std::uint32_t pair) {
  return __uint_as_float(pair << 16);
}
__device__ __forceinline__ float high_half(std::uint32_t pair) {
  return __uint_as_float(pair & 0xffff0000U);
}

template <GroupedFormat kFormat>
__device__ __forceinline__ Scales load_scales(const unsigned char* group) {
  const unsigned char* mine = group + threadIdx.x % 32 / 4 * 4 * kFormat.scale_bytes;
  Scales scales;
  if constexpr (kFormat.biased) {
    const uint4 all = *reinterpret_cast<const uint4*>(mine);
    scales = {{low_half(all.x), low_half(all.y), low_half(all.z), low_half(all.w)},
              {high_half(all.x), high_half(all.y), high_half(all.z), high_half(all.w)}};
  } else {
    const uint2 all = *reinterpret_cast<const uint2*>(mine);
    scales = {{low_half(all.x), high_half(all.x), low_half(all.y), high_half(all.y)}, {}};
  }
  for (int i = 0; i < 4; ++i)
    scales.bias[i] = fmaf(static_cast<float>(kFormat.offset), scales.scale[i], scales.bias[i]);
  return scales;
}

// Eight rows of x, 64 k: mma's second operand, two registers a product.
struct Inputs {
  std::uint32_t pairs[kProducts][2];
};
// Rows lie 128 bytes apart, the 16-byte units of each permuted by (row % 8). A lane takes units
// that are two apart, so that two rows touch all banks once. Rows after the last stand for it:
// nobody reads their sums.
__device__ __forceinline__ Inputs load_inputs(const unsigned char* box, std::uint32_t last_row) {
  const std::uint32_t lane = threadIdx.x % 32, row = min(lane / 4, last_row), unit = lane % 4 * 2;
  const unsigned char* at = box + row * 128;
  const uint4 first = *reinterpret_cast<const uint4*>(at + (unit ^ row) * 16);
  const uint4 second = *reinterpret_cast<const uint4*>(at + ((unit + 1) ^ row) * 16);
  return {{{first.x, first.y}, {first.z, first.w}, {second.x, second.y}, {second.z, second.w}}};
}

template <GroupedFormat kFormat>
constexpr bool kNeedsTotal = kFormat.biased || kFormat.offset != 0;

// sums += scale (w . x) + bias sum(x), of 16 outputs and 8 rows.
template <GroupedFormat kFormat>
__device__ __forceinline__ void multiply_half(const Operand& w, const Inputs& x,
                                              const float (&total)[4], const float* scale,
                                              const float* bias, float (&sums)[4]) {
  float group[4] = {};
#pragma unroll
  for (int product = 0; product < kProducts; ++product)
    multiply_add(group, w[product][0], w[product][1], w[product][2], w[product][3],
                 x.pairs[product][0], x.pairs[product][1]);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sums[i] = fmaf(scale[i / 2], group[i], sums[i]);
    if constexpr (kNeedsTotal<kFormat>) sums[i] = fmaf(bias[i / 2], total[i], sums[i]);
  }
}

// A strip's 32 outputs and a unit's 64 k, all rows.
template <GroupedFormat kFormat, int kRowTiles>
__device__ __forceinline__ void multiply_unit(const Codes<kFormat>& codes, const Scales& scales,
                                              const unsigned char* box, std::uint32_t last_row,
                                              float (&sums)[2][kRowTiles][4]) {
  Operand w[2];
  decode<kFormat>(codes.planes, w[0]);
  decode<kFormat>(codes.planes + Codes<kFormat>::kPlanes, w[1]);
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile) {
    const Inputs x = load_inputs(box + tile * 1024, last_row);
    float total[4] = {};  // of x over the unit, in every output's place
    if constexpr (kNeedsTotal<kFormat>) {
#pragma unroll
      for (int product = 0; product < kProducts; ++product)
        multiply_add(total, kOnes, kOnes, kOnes, kOnes, x.pairs[product][0], x.pairs[product][1]);
    }
    multiply_half<kFormat>(w[0], x, total, scales.scale, scales.bias, sums[0][tile]);
    multiply_half<kFormat>(w[1], x, total, scales.scale + 2, scales.bias + 2, sums[1][tile]);
  }
}

// nvcc 13.0 takes no format itself as a kernel's parameter.
template <std::uint32_t kType>
constexpr GroupedFormat kFormatOf = kInt8;
template <>
constexpr GroupedFormat kFormatOf<TARE_MLX_INT4_G64> = kMlxInt4;
template <>
constexpr GroupedFormat kFormatOf<TARE_INT4_G128> = kInt4;
template <>
constexpr GroupedFormat kFormatOf<TARE_MLX_INT8_G64> = kMlxInt8;

// What `function` makes of the type that weights of `type` are once they are packed: its template
// argument.
template <typename Function>
decltype(auto) with_packed_type(std::uint32_t type, Function&& function) {
  switch (type) {
    case TARE_MLX_INT4_G64:
      return function.template operator()<TARE_MLX_INT4_G64>();
    case TARE_INT4_G128:
      return function.template operator()<TARE_INT4_G128>();
    case TARE_MLX_INT8_G64:
      return function.template operator()<TARE_MLX_INT8_G64>();
    default:  // one scale an output, or groups of 128: the same once packed
      return function.template operator()<TARE_INT8_G128>();
  }
}

}  // namespace tare::kernels::cuda
