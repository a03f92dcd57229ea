#include "device/proc_stat.h"

#include <gtest/gtest.h>

namespace tare::device {
namespace {

TEST(ProcStat, ProcessorTimeIsUserNiceSystemAndInterrupts) {
  // user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms
  const ProcessorTime time = parse_processor_time(
      "cpu  8573 100 4517 154125 581 3 97 67 50 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n", 100);
  EXPECT_DOUBLE_EQ(time.busy, (8573 + 100 + 4517 + 3 + 97) / 100.0);
  EXPECT_DOUBLE_EQ(time.steal, 0.67);
}

TEST(ProcStat, AnOldKernelCountsNoSteal) {
  const ProcessorTime time = parse_processor_time("cpu 10 0 10 100 0 0 0\n", 100);
  EXPECT_DOUBLE_EQ(time.busy, 0.2);
  EXPECT_DOUBLE_EQ(time.steal, 0);
}

TEST(ProcStat, GarbageIsNothing) {
  EXPECT_EQ(parse_processor_time("", 100).busy, 0);
  EXPECT_EQ(parse_processor_time("intr 5 5 5\n", 100).busy, 0);
}

TEST(ProcStat, AProcessWithAWildName) {
  const ProcessTime process = parse_process_time(
      "4711 (a) (b c) S 1 4711 4711 0 -1 4194560 100 0 0 0 250 150 7 8 20 0 1 0 100 200\n", 100);
  EXPECT_EQ(process.pid, 4711);
  EXPECT_EQ(process.name, "a) (b c");
  EXPECT_DOUBLE_EQ(process.seconds, 4.0);
}

TEST(ProcStat, AProcessThatIsGone) {
  EXPECT_EQ(parse_process_time("", 100).pid, 0);
  EXPECT_EQ(parse_process_time("12 no name", 100).pid, 0);
}

}  // namespace
}  // namespace tare::device
