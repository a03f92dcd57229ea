#include "isa_settings.h"

#include <fmt/format.h>

#include "device/isa_cap.h"

namespace tare::app {
namespace {

using device::Rung;

struct Value {
  const char* text;
  Rung rung;  // what the machine must have
};

struct Variable {
  std::string_view module;
  const char* name;
  std::vector<Value> values;
};

// Names as device/isa_cap.cpp knows them; our own as kernels/cpu/paths.h.
const std::vector<Variable>& variables() {
  static const std::vector<Value> own = {{"portable", Rung::kBaseline},
                                         {"avx2", Rung::kAvx2},
                                         {"avx512", Rung::kAvx512},
                                         {"avx512bf16", Rung::kAvx512Bf16}};
  static const std::vector<Value> onednn = {{"AVX2", Rung::kAvx2},
                                            {"AVX512_CORE", Rung::kAvx512},
                                            {"AVX512_CORE_BF16", Rung::kAvx512Bf16}};
  static const std::vector<Variable> all = {
      {"tare_cpu", "TARE_CPU_ISA", own},
      {"tare_grouped", "TARE_CPU_ISA", own},
      {"onednn", "ONEDNN_MAX_CPU_ISA", onednn},
      {"onednn3", "ONEDNN_MAX_CPU_ISA", onednn},
      {"onednn3_omp", "ONEDNN_MAX_CPU_ISA", onednn},
      {"openblas",
       "OPENBLAS_CORETYPE",
       {{"Haswell", Rung::kAvx2}, {"SkylakeX", Rung::kAvx512}, {"Cooperlake", Rung::kAvx512Bf16}}},
      {"mkl",
       "MKL_ENABLE_INSTRUCTIONS",
       {{"AVX2", Rung::kAvx2}, {"AVX512", Rung::kAvx512}, {"AVX512_E3", Rung::kAvx512Bf16}}},
  };
  return all;
}

}  // namespace

std::vector<IsaSetting> isa_settings(std::string_view module, const device::Isa& isa) {
  std::vector<IsaSetting> settings;
  for (const Variable& variable : variables()) {
    if (variable.module != module) continue;
    for (const Value& value : variable.values)
      if (value.rung <= device::rung_of(isa))
        settings.push_back(
            {fmt::format("{}={}", variable.name, value.text), {{variable.name, value.text}}});
  }
  return settings;
}

}  // namespace tare::app
