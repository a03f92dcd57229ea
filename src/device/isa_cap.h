// The names by which libraries let an environment variable choose or cap the instruction set.
#pragma once

#include <optional>
#include <string_view>

#include "device/machine.h"

namespace tare::device {

// A ladder on which both a cap and a machine have their place.
enum class Rung { kBaseline, kAvx2, kAvx512, kAvx512Bf16, kAvx512Fp16, kAmx, kNoCap };

Rung rung_of(const Isa& isa);

// Nothing for a name that we do not know. Case does not matter, as it does not to the libraries.
std::optional<Rung> onednn_rung(std::string_view value);  // ONEDNN_MAX_CPU_ISA: "AVX512_CORE_BF16"
std::optional<Rung> mkl_rung(std::string_view value);     // MKL_ENABLE_INSTRUCTIONS: "AVX512_E3"
std::optional<Rung> openblas_rung(std::string_view value);  // OPENBLAS_CORETYPE: "Cooperlake"

}  // namespace tare::device
