// What is particular to oneDNN: its row counts share one packed layout or say so, and its threads
// are the host's.
#include <cstring>

#include "tests/modules/drive.h"

namespace tare::tests {
namespace {

const tare_arm* arm_named(const char* name) {
  for (const tare_arm* arm : Module::under_test().arms) {
    if (std::strcmp(arm->name, name) == 0) return arm;
  }
  return nullptr;
}

bool computes_here(const tare_arm* arm) {
  const tare_problem problem = {64, 64, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  return arm != nullptr && refusal(*arm, problem).empty();
}

TEST(Onednn, HasBothWordingsOfAProjection) {
  if (Module::under_test().arms.empty()) GTEST_SKIP() << Module::under_test().absent;
  EXPECT_NE(arm_named("onednn"), nullptr);
  EXPECT_NE(arm_named("onednn-ip"), nullptr);
}

TEST(Onednn, PacksAlikeAfterAChangeOfRowsAndAfterAFreshPreparation) {
  for (const char* name : {"onednn", "onednn-ip"}) {
    const tare_arm* arm = arm_named(name);
    if (!computes_here(arm)) GTEST_SKIP() << "no bf16 on this machine";
    const Data data(1536, 256, 1, 1, 5);
    Executor changed(*arm, data, 1);
    for (const std::uint32_t rows : {8u, 32u, 1u}) {
      if (!changed.set_rows(rows)) continue;
      const Executor fresh(*arm, data, rows);
      EXPECT_STREQ(changed.dispatched().configuration, fresh.dispatched().configuration)
          << name << " with " << rows << " rows";
      EXPECT_STREQ(changed.dispatched().kernel, fresh.dispatched().kernel);
    }
  }
}

TEST(Onednn, RunsOnAllOfTheHostsThreads) {
  const tare_arm* arm = arm_named("onednn");
  if (!computes_here(arm)) GTEST_SKIP() << "no bf16 on this machine";
  const Data data(64, 64, 1, 1, 5);
  const Executor executor(*arm, data, 1);
  EXPECT_EQ(executor.dispatched().threads, Module::under_test().services().threads);
}

TEST(Onednn, ASlotThatWasNeverBoundFailsTheDispatch) {
  const tare_arm* arm = arm_named("onednn");
  if (!computes_here(arm)) GTEST_SKIP() << "no bf16 on this machine";
  const Data data(64, 64, 1, 1, 5);
  const tare_problem problem = data.problem(1);
  tare_executor* executor = nullptr;
  char why[256] = "";
  ASSERT_EQ(arm->prepare(&problem, 1, &executor, why, sizeof(why)), 0) << why;
  const Buffer y(64);
  EXPECT_NE(arm->enqueue(executor, 0, data.x.data(), y.data()), 0);
  EXPECT_NE(arm->enqueue(executor, 7, data.x.data(), y.data()), 0);
  EXPECT_NE(arm->bind(executor, 7, data.weights[0].data(), why, sizeof(why)), 0);
  arm->destroy(executor);
}

}  // namespace
}  // namespace tare::tests
