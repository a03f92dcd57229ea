#include "device/isa_cap.h"

#include <gtest/gtest.h>

namespace tare::device {
namespace {

TEST(IsaCap, TheLadderOfMachines) {
  EXPECT_EQ(rung_of({}), Rung::kBaseline);
  EXPECT_EQ(rung_of({.avx2 = true}), Rung::kAvx2);
  EXPECT_EQ(rung_of({.avx2 = true, .avx512 = true, .avx512_vnni = true}), Rung::kAvx512);
  EXPECT_EQ(rung_of({.avx2 = true, .avx512 = true, .avx512_bf16 = true}), Rung::kAvx512Bf16);
}

TEST(IsaCap, NamesInAnyCase) {
  EXPECT_EQ(onednn_rung("avx512_core_bf16"), Rung::kAvx512Bf16);
  EXPECT_EQ(onednn_rung("DEFAULT"), Rung::kNoCap);
  EXPECT_EQ(mkl_rung("AVX512_E3"), Rung::kAvx512Bf16);
  EXPECT_EQ(mkl_rung("AVX512_E2"), Rung::kAvx512);
  EXPECT_EQ(openblas_rung("SkylakeX"), Rung::kAvx512);
  EXPECT_EQ(openblas_rung("Haswell"), Rung::kAvx2);
}

TEST(IsaCap, UnknownNamesAreNothing) {
  EXPECT_FALSE(onednn_rung("avx1024").has_value());
  EXPECT_FALSE(mkl_rung("").has_value());
  EXPECT_FALSE(openblas_rung("NEOVERSEN1").has_value());
}

}  // namespace
}  // namespace tare::device
