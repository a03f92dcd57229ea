#include "device/isa_cap.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace tare::device {
namespace {

struct Step {
  std::string_view name;  // in capitals
  Rung rung;
};

std::string capitals(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

template <std::size_t N>
std::optional<Rung> find_in(const Step (&ladder)[N], std::string_view value) {
  const std::string name = capitals(value);
  for (const Step& step : ladder) {
    if (step.name == name) return step.rung;
  }
  return std::nullopt;
}

// oneDNN's developer guide, "CPU Dispatcher Control"; AVX2_VNNI_2 (bf16 conversions on AVX2) is
// below AVX-512 for us.
constexpr Step kOneDnn[] = {
    {"SSE41", Rung::kBaseline},
    {"AVX", Rung::kBaseline},
    {"AVX2", Rung::kAvx2},
    {"AVX2_VNNI", Rung::kAvx2},
    {"AVX2_VNNI_2", Rung::kAvx2},
    {"AVX512_CORE", Rung::kAvx512},
    {"AVX512_CORE_VNNI", Rung::kAvx512},
    {"AVX512_CORE_BF16", Rung::kAvx512Bf16},
    {"AVX10_1_512", Rung::kAvx512Fp16},
    {"AVX512_CORE_FP16", Rung::kAvx512Fp16},
    {"AVX512_CORE_AMX", Rung::kAmx},
    {"AVX512_CORE_AMX_FP16", Rung::kAmx},
    {"AVX10_1_512_AMX", Rung::kAmx},
    {"AVX10_1_512_AMX_FP16", Rung::kAmx},
    {"ALL", Rung::kNoCap},
    {"DEFAULT", Rung::kNoCap},
};

// oneMKL's developer reference, mkl_enable_instructions: E1 adds VNNI, E2 cryptography, E3 bf16, E4
// AMX.
constexpr Step kMkl[] = {
    {"SSE4_2", Rung::kBaseline},  {"AVX", Rung::kBaseline},         {"AVX2", Rung::kAvx2},
    {"AVX2_E1", Rung::kAvx2},     {"AVX512", Rung::kAvx512},        {"AVX512_E1", Rung::kAvx512},
    {"AVX512_E2", Rung::kAvx512}, {"AVX512_E3", Rung::kAvx512Bf16}, {"AVX512_E4", Rung::kAmx},
    {"AVX512_E5", Rung::kAmx},
};

// OpenBLAS's core names on x86-64; those of one rung share their kernels' instruction set.
constexpr Step kOpenBlas[] = {
    {"PRESCOTT", Rung::kBaseline},
    {"CORE2", Rung::kBaseline},
    {"PENRYN", Rung::kBaseline},
    {"DUNNINGTON", Rung::kBaseline},
    {"NEHALEM", Rung::kBaseline},
    {"ATOM", Rung::kBaseline},
    {"ATHLON", Rung::kBaseline},
    {"OPTERON", Rung::kBaseline},
    {"OPTERON_SSE3", Rung::kBaseline},
    {"BARCELONA", Rung::kBaseline},
    {"BOBCAT", Rung::kBaseline},
    {"NANO", Rung::kBaseline},
    {"KATMAI", Rung::kBaseline},
    {"COPPERMINE", Rung::kBaseline},
    {"NORTHWOOD", Rung::kBaseline},
    {"BANIAS", Rung::kBaseline},
    {"SANDYBRIDGE", Rung::kBaseline},
    {"BULLDOZER", Rung::kBaseline},
    {"PILEDRIVER", Rung::kBaseline},
    {"STEAMROLLER", Rung::kBaseline},
    {"EXCAVATOR", Rung::kAvx2},
    {"HASWELL", Rung::kAvx2},
    {"ZEN", Rung::kAvx2},
    {"SKYLAKEX", Rung::kAvx512},
    {"COOPERLAKE", Rung::kAvx512Bf16},
    {"SAPPHIRERAPIDS", Rung::kAmx},
};

}  // namespace

Rung rung_of(const Isa& isa) {
  if (isa.amx_bf16) return Rung::kAmx;
  if (isa.avx512_fp16) return Rung::kAvx512Fp16;
  if (isa.avx512_bf16) return Rung::kAvx512Bf16;
  if (isa.avx512) return Rung::kAvx512;
  return isa.avx2 ? Rung::kAvx2 : Rung::kBaseline;
}

std::optional<Rung> onednn_rung(std::string_view value) {
  return find_in(kOneDnn, value);
}
std::optional<Rung> mkl_rung(std::string_view value) {
  return find_in(kMkl, value);
}
std::optional<Rung> openblas_rung(std::string_view value) {
  return find_in(kOpenBlas, value);
}

}  // namespace tare::device
