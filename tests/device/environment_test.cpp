#include "device/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace tare::device {
namespace {

Machine machine_with(Isa isa, std::uint32_t threads = 2) {
  Machine machine;
  machine.isa = isa;
  machine.threads = threads;
  return machine;
}

constexpr Isa kHaswell{.avx2 = true};
constexpr Isa kZen4{.avx2 = true, .avx512 = true, .avx512_vnni = true, .avx512_bf16 = true};
constexpr Isa kGuestWithoutTiles{
    .avx2 = true, .avx512 = true, .avx512_vnni = true, .avx512_bf16 = true, .avx512_fp16 = true};

bool harmful(const char* variable, const char* value, const Machine& machine) {
  const auto hobble = judge_setting({variable, value}, machine);
  EXPECT_TRUE(hobble.has_value()) << variable;
  return hobble && hobble->harmful;
}

TEST(Environment, ThreadsEqualToTheMachinesAreFine) {
  const Machine machine = machine_with(kZen4, 4);
  for (const char* variable :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOTO_NUM_THREADS"}) {
    EXPECT_FALSE(harmful(variable, "4", machine)) << variable;
    EXPECT_TRUE(harmful(variable, "1", machine)) << variable;
    EXPECT_TRUE(harmful(variable, "8", machine)) << variable;
  }
  EXPECT_FALSE(harmful("OMP_NUM_THREADS", "4,2", machine));
  EXPECT_TRUE(harmful("OMP_NUM_THREADS", "2,4", machine));
  EXPECT_FALSE(harmful("OMP_NUM_THREADS", "", machine));
  EXPECT_FALSE(harmful("OMP_THREAD_LIMIT", "100", machine));
  EXPECT_TRUE(harmful("OMP_THREAD_LIMIT", "3", machine));
}

TEST(Environment, AdviceNamesVariableAndThreads) {
  const auto hobble = judge_setting({"OMP_NUM_THREADS", "1"}, machine_with(kZen4, 6));
  ASSERT_TRUE(hobble);
  EXPECT_NE(hobble->advice.find("unset OMP_NUM_THREADS"), std::string::npos) << hobble->advice;
  EXPECT_NE(hobble->advice.find('6'), std::string::npos) << hobble->advice;
}

TEST(Environment, ACapHarmsOnlyAMachineAboveIt) {
  for (const char* variable : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    EXPECT_TRUE(harmful(variable, "AVX2", machine_with(kZen4)));
    EXPECT_TRUE(harmful(variable, "avx512_core", machine_with(kZen4)));
    EXPECT_FALSE(harmful(variable, "AVX512_CORE_BF16", machine_with(kZen4)));
    EXPECT_FALSE(harmful(variable, "AVX512_CORE_AMX", machine_with(kZen4)));
    EXPECT_FALSE(harmful(variable, "ALL", machine_with(kZen4)));
    EXPECT_FALSE(harmful(variable, "AVX2", machine_with(kHaswell)));
  }
  EXPECT_TRUE(harmful("MKL_ENABLE_INSTRUCTIONS", "AVX512", machine_with(kZen4)));
  EXPECT_FALSE(harmful("MKL_ENABLE_INSTRUCTIONS", "AVX512_E3", machine_with(kGuestWithoutTiles)));
}

TEST(Environment, OpenBlasCoreMustBeThisProcessors) {
  EXPECT_TRUE(harmful("OPENBLAS_CORETYPE", "Haswell", machine_with(kZen4)));
  EXPECT_TRUE(harmful("OPENBLAS_CORETYPE", "SkylakeX", machine_with(kZen4)));
  EXPECT_FALSE(harmful("OPENBLAS_CORETYPE", "Cooperlake", machine_with(kGuestWithoutTiles)));
  EXPECT_FALSE(harmful("OPENBLAS_CORETYPE", "Haswell", machine_with(kHaswell)));
  EXPECT_TRUE(harmful("OPENBLAS_CORETYPE", "SkylakeX", machine_with(kHaswell)));
  EXPECT_TRUE(harmful("OPENBLAS_CORETYPE", "NEOVERSEN1", machine_with(kHaswell)));
}

TEST(Environment, PinningToFewerProcessorsThanThreads) {
  const Machine machine = machine_with(kZen4, 4);
  EXPECT_FALSE(harmful("GOMP_CPU_AFFINITY", "0-3", machine));
  EXPECT_FALSE(harmful("GOMP_CPU_AFFINITY", "0 2,4-6:2 7", machine));
  EXPECT_TRUE(harmful("GOMP_CPU_AFFINITY", "0-3:2", machine));
  EXPECT_TRUE(harmful("GOMP_CPU_AFFINITY", "garbage", machine));
  EXPECT_FALSE(harmful("OMP_PROC_BIND", "close", machine));
  EXPECT_TRUE(harmful("OMP_PROC_BIND", "master", machine));
}

TEST(Environment, SwitchesThatAreOff) {
  const Machine machine = machine_with(kZen4);
  EXPECT_FALSE(harmful("ONEDNN_VERBOSE", "0", machine));
  EXPECT_FALSE(harmful("ONEDNN_VERBOSE", "none", machine));
  EXPECT_TRUE(harmful("ONEDNN_VERBOSE", "1", machine));
  EXPECT_FALSE(harmful("OMP_DYNAMIC", "FALSE", machine));
  EXPECT_FALSE(harmful("KMP_BLOCKTIME", "200", machine));
  EXPECT_TRUE(harmful("KMP_BLOCKTIME", "infinite", machine));
  EXPECT_TRUE(harmful("OMP_WAIT_POLICY", "ACTIVE", machine));
  EXPECT_TRUE(harmful("GOMP_SPINCOUNT", "0", machine));
}

TEST(Environment, LibraryOfTheSystem) {
  const Machine machine = machine_with(kZen4);
  EXPECT_FALSE(harmful("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", machine));
  EXPECT_TRUE(harmful("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F", machine));
  EXPECT_FALSE(harmful("MALLOC_ARENA_MAX", "1", machine));
  EXPECT_TRUE(harmful("MALLOC_PERTURB_", "165", machine));
  EXPECT_TRUE(harmful("LD_PRELOAD", "libjemalloc.so.2", machine));
}

TEST(Environment, FamiliesAreKnownByTheirFirstLetters) {
  const Machine machine = machine_with(kZen4);
  for (const char* variable : {"MLX_SOMETHING_NEW", "GGML_SOMETHING_NEW",
                               "NVPL_BLAS_DEBUG_CPU_TYPE", "MKL_DEBUG_CPU_TYPE"})
    EXPECT_TRUE(judge_setting({variable, "1"}, machine).has_value()) << variable;
  for (const char* variable : {"PATH", "MLXISH", "HOME", "", "OMP"})
    EXPECT_FALSE(judge_setting({variable, "1"}, machine).has_value()) << variable;
}

TEST(Environment, WhatHidesInstructionsIsWithheldFromArms) {
  const Machine machine = machine_with(kZen4, 4);
  EXPECT_TRUE(judge_setting({"ONEDNN_MAX_CPU_ISA", "AVX2"}, machine)->withheld);
  EXPECT_TRUE(judge_setting({"OPENBLAS_CORETYPE", "Haswell"}, machine)->withheld);
  EXPECT_FALSE(judge_setting({"ONEDNN_MAX_CPU_ISA", "AVX2"}, machine_with(kHaswell))->withheld)
      << "does no harm there";
  EXPECT_FALSE(judge_setting({"OMP_NUM_THREADS", "1"}, machine)->withheld)
      << "harmful, and set anew for every arm";
  EXPECT_FALSE(judge_setting({"LD_PRELOAD", "libprofiler.so"}, machine)->withheld)
      << "somebody may want it";
}

TEST(Environment, HarmfulOnesComeFirst) {
  const auto hobbles = judge_environment(
      {{"A", "1"}, {"LD_LIBRARY_PATH", "/x"}, {"OMP_NUM_THREADS", "7"}, {"LD_PRELOAD", "x.so"}},
      machine_with(kZen4));
  ASSERT_EQ(hobbles.size(), 3u);
  EXPECT_EQ(hobbles[0].variable, "LD_PRELOAD");
  EXPECT_EQ(hobbles[1].variable, "OMP_NUM_THREADS");
  EXPECT_EQ(hobbles[2].variable, "LD_LIBRARY_PATH");
}

TEST(Environment, ReadsTheOneOfThisProcess) {
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "1234", 1), 0);
  const auto hobbles = hobbling_variables();
  unsetenv("OMP_NUM_THREADS");
  const auto found = std::ranges::find(hobbles, "OMP_NUM_THREADS", &Hobble::variable);
  ASSERT_NE(found, hobbles.end());
  EXPECT_EQ(found->value, "1234");
  EXPECT_TRUE(found->harmful);
}

}  // namespace
}  // namespace tare::device
