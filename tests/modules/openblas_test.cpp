// OpenBLAS as it is here, as a stand-in that has the bf16 product, and absent: CTest runs this
// program once for each (TARE_OPENBLAS names the library, TARE_EXPECT_REASON what a refusal must
// say).
#include <cstdlib>
#include <string>

#include "tests/modules/drive.h"

namespace tare::tests {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const tare_problem kProblem = {64, 64, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};

TEST(Openblas, LoadsWhateverTheMachineHas) {
  EXPECT_EQ(Module::under_test().arms.size(), 1u) << Module::under_test().absent;
}

TEST(Openblas, SaysWhatIsMissing) {
  const std::string expected = environment("TARE_EXPECT_REASON");
  if (expected.empty()) GTEST_SKIP() << "TARE_EXPECT_REASON is not set";
  const std::string reason = refusal(*Module::under_test().arms.at(0), kProblem);
  EXPECT_NE(reason.find(expected), std::string::npos) << reason;
}

TEST(Openblas, RefusesToPrepareWhatItDoesNotSupport) {
  const tare_arm& arm = *Module::under_test().arms.at(0);
  if (refusal(arm, kProblem).empty()) GTEST_SKIP() << "this OpenBLAS has cblas_sbgemm";
  tare_executor* executor = nullptr;
  char why[256] = "";
  EXPECT_NE(arm.prepare(&kProblem, 1, &executor, why, sizeof(why)), 0);
  EXPECT_EQ(why, refusal(arm, kProblem));
  EXPECT_EQ(executor, nullptr);
}

TEST(Openblas, ReportsCoreAndThreadsOfTheLibraryThatWasLoaded) {
  if (environment("TARE_OPENBLAS").find("fake") == std::string::npos) {
    GTEST_SKIP() << "knows the stand-in's answers only";
  }
  const Data data(8, 4, 1, 1, 1);
  Executor executor(*Module::under_test().arms.at(0), data, 1);
  const tare_dispatch_record record = executor.dispatched();
  EXPECT_STREQ(record.library, "OpenBLAS 9.9.9");
  EXPECT_STREQ(record.isa, "FakeCore");
  EXPECT_STREQ(record.kernel, "cblas_sbgemm:FakeCore");
  EXPECT_EQ(record.threads, Module::under_test().services().threads);
  EXPECT_NE(std::string(record.configuration).find("DYNAMIC_ARCH"), std::string::npos);
}

}  // namespace
}  // namespace tare::tests
