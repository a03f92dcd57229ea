#include "device/isa.h"

#include <gtest/gtest.h>

#include "device/text_file.h"

namespace tare::device {
namespace {

constexpr std::uint64_t kAvx512State = 0xe7, kAvxState = 0x7, kAmxState = 0x602e7;

// Registers of a Sapphire Rapids server: every bit that decode_isa asks for, and all state enabled.
Cpuid sapphire_rapids() {
  return {.leaf1_ecx = (1u << 12) | (1u << 27) | (1u << 29),
          .leaf7_ebx = (1u << 5) | (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31),
          .leaf7_ecx = 1u << 11,
          .leaf7_edx = (1u << 22) | (1u << 23) | (1u << 24) | (1u << 25),
          .leaf7_1_eax = 1u << 5,
          .xcr0 = kAmxState,
          .amx_permitted = true,
          .hypervisor = ""};
}

TEST(Isa, SapphireRapidsHasEverything) {
  const Isa isa = decode_isa(sapphire_rapids());
  EXPECT_TRUE(isa.avx2 && isa.avx512 && isa.avx512_vnni && isa.avx512_bf16 && isa.avx512_fp16);
  EXPECT_TRUE(isa.amx_bf16 && isa.amx_int8);
  EXPECT_EQ(best_of(isa), "AMX BF16");
}

TEST(Isa, TilesWithoutLeaveAreNotThere) {
  Cpuid cpuid = sapphire_rapids();
  cpuid.amx_permitted = false;
  EXPECT_FALSE(decode_isa(cpuid).amx_bf16);
  EXPECT_EQ(best_of(decode_isa(cpuid)), "AVX-512 BF16");
}

TEST(Isa, StateThatTheSystemDoesNotSaveCannotBeUsed) {
  Cpuid cpuid = sapphire_rapids();
  cpuid.xcr0 = kAvxState;
  const Isa isa = decode_isa(cpuid);
  EXPECT_TRUE(isa.avx2);
  EXPECT_FALSE(isa.avx512 || isa.avx512_bf16 || isa.avx512_fp16 || isa.amx_bf16 || isa.amx_int8);
  cpuid.xcr0 = 0;
  EXPECT_FALSE(decode_isa(cpuid).avx2);
}

TEST(Isa, Zen4HasNoFp16AndNoTiles) {
  Cpuid cpuid = sapphire_rapids();
  cpuid.leaf7_edx = 0;
  cpuid.xcr0 = kAvx512State;
  const Isa isa = decode_isa(cpuid);
  EXPECT_TRUE(isa.avx512_bf16);
  EXPECT_FALSE(isa.avx512_fp16 || isa.amx_bf16);
  EXPECT_EQ(best_of(isa), "AVX-512 BF16");
}

TEST(Isa, HaswellHasAvx2Only) {
  Cpuid cpuid = sapphire_rapids();
  cpuid.leaf7_ebx = 1u << 5;
  cpuid.leaf7_ecx = cpuid.leaf7_edx = cpuid.leaf7_1_eax = 0;
  EXPECT_EQ(best_of(decode_isa(cpuid)), "AVX2");
}

TEST(Isa, Avx2WithoutFmaIsNotOurAvx2) {
  Cpuid cpuid = sapphire_rapids();
  cpuid.leaf1_ecx &= ~(1u << 12);
  EXPECT_FALSE(decode_isa(cpuid).avx2);
}

TEST(Isa, NamesInBetween) {
  EXPECT_EQ(best_of({.avx2 = true, .avx512 = true}), "AVX-512");
  EXPECT_EQ(best_of({.avx2 = true, .avx512 = true, .avx512_vnni = true}), "AVX-512 VNNI");
}

#ifdef __x86_64__
// The compiler's own run-time check is the second opinion.
TEST(Isa, AgreesWithTheCompilerAboutThisProcessor) {
  const Isa isa = decode_isa(read_cpuid());
  __builtin_cpu_init();
  EXPECT_EQ(isa.avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(isa.avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(isa.avx512_vnni, isa.avx512 && __builtin_cpu_supports("avx512vnni"));
  EXPECT_EQ(isa.avx512_bf16, isa.avx512 && __builtin_cpu_supports("avx512bf16"));
}
#endif

}  // namespace
}  // namespace tare::device
