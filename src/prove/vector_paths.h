// The instruction sets that this room's loops are compiled for again, chosen by hand and not by
// target_clones, whose resolver runs before a sanitizer is ready and hides the paths from the
// tests. Integer arithmetic and uncontracted float operations: all give the same bits.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define TARE_PROVE_X86 1
#define TARE_PROVE_AVX2 gnu::target("avx2")
#define TARE_PROVE_AVX512 gnu::target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")

namespace tare::prove {

inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
}

}  // namespace tare::prove
#endif
