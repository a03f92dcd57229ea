#include "kernels/cpu/support.h"

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
bool has_avx_vnni() {
  return has_avx2() && __builtin_cpu_supports("avxvnni") != 0;
}
#else
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

}  // namespace tare::kernels
