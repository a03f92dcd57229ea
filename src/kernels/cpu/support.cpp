#include "kernels/cpu/support.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tare::kernels {

// GCC's and Clang's builtins ask the operating system (XGETBV) as well as CPUID.
#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
bool has_avx512_bf16() {
  return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0;
}
bool has_avx512_vbmi() {
  return has_avx512() && __builtin_cpu_supports("avx512vbmi") != 0;
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni") != 0;
}
static bool has_tiles_with(unsigned feature) {
  constexpr unsigned kTiles = 1u << 24;  // of EDX of leaf 7, as the features are
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & feature) == 0 || (d & kTiles) == 0)
    return false;
#if defined(__linux__)
  // Linux lends the tiles' state on request (arch/x86/include/uapi/asm/prctl.h); before 5.16 it
  // refuses.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
bool has_amx_bf16() {
  return has_tiles_with(1u << 22);
}
bool has_amx_int8() {
  return has_tiles_with(1u << 25);
}
bool has_avx_vnni() {
  return has_avx2() && __builtin_cpu_supports("avxvnni") != 0;
}
#else
bool has_amx_bf16() {
  return false;
}
bool has_amx_int8() {
  return false;
}
bool has_avx512_vbmi() {
  return false;
}
bool has_avx512_vnni() {
  return false;
}
bool has_avx_vnni() {
  return false;
}
bool has_avx2() {
  return false;
}
bool has_avx512() {
  return false;
}
bool has_avx512_bf16() {
  return false;
}
#endif
bool has_any() {
  return true;
}
Keep best_keep() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("intel") != 0) return Keep::kEveryCache;
#endif
  return Keep::kNowhere;
}

}  // namespace tare::kernels
