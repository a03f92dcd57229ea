#include "device/machine.h"

#include <gtest/gtest.h>

#include "device/topology.h"

namespace tare::device {
namespace {

TEST(Machine, SummaryIsTheFirstLineOfATable) {
  Machine machine;
  machine.processor = "AMD EPYC 9R14 (Zen 4)";
  machine.threads = 2;
  machine.isa = {.avx2 = true, .avx512 = true, .avx512_vnni = true, .avx512_bf16 = true};
  EXPECT_EQ(summary(machine), "AMD EPYC 9R14 (Zen 4), 2 threads, AVX-512 BF16");
  machine.threads = 1;
  EXPECT_EQ(summary(machine), "AMD EPYC 9R14 (Zen 4), 1 thread, AVX-512 BF16");
}

TEST(Machine, ThisOneIsWhole) {
  const Machine machine = inspect();
  EXPECT_FALSE(machine.processor.empty());
  EXPECT_EQ(machine.threads, allowed_processors().size());
  EXPECT_GE(machine.cores, 1u);
  EXPECT_LE(machine.cores, machine.threads);
  EXPECT_GT(machine.memory_bytes, 0u);
  EXPECT_LE(machine.available_bytes, machine.memory_bytes);
  EXPECT_GE(machine.last_level_caches, 1u);
  EXPECT_FALSE(machine.kernel.empty());
}

}  // namespace
}  // namespace tare::device
