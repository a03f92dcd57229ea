#include "kernels/dot.h"

#include <algorithm>
#include <cstddef>

#include "formats/decode.h"
#include "kernels/cpu/dot_path.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {

void pack_for_dots(const DotShape& shape, const Bf16* weights, std::uint64_t first,
                   std::uint64_t last, Bf16* packed) {
  for (std::uint64_t panel = first; panel < last; ++panel) {
    Bf16* into = packed + panel * shape.panel_elements();
    const std::uint64_t output = panel * kDotOutputs;
    const std::uint64_t outputs = std::min(kDotOutputs, shape.n - output);
    if (outputs < kDotOutputs) std::fill_n(into, shape.panel_elements(), Bf16{0});
    for (std::uint64_t i = 0; i < shape.k; i += kDotElements)
      for (std::uint64_t o = 0; o < outputs; ++o)
        std::copy_n(weights + (output + o) * shape.k + i, kDotElements,
                    into + i * kDotOutputs + o * kDotElements);
  }
}

void pack_bias_for_dots(const DotShape& shape, const void* weights, void* packed) {
  if (shape.bias == 0) return;
  std::ranges::copy(
      formats::bias_of(formats::format_of(TARE_BF16), shape.k, shape.n, shape.bias, weights),
      reinterpret_cast<float*>(static_cast<std::byte*>(packed) + shape.bias_at()));
}

DotKernel dot_kernel() {
#if defined(__x86_64__)
  if (has_avx512_bf16()) return &run_dots_avx512bf16;
#endif
  return nullptr;
}

}  // namespace tare::kernels
