#include "device/neighbour.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "device/quiet.h"

namespace tare::device {
namespace {

bool exists(pid_t process) {
  return kill(process, 0) == 0 || errno != ESRCH;
}

TEST(Neighbour, NoneIsNobody) {
  EXPECT_EQ(Neighbour(NeighbourKind::kNone).process(), 0);
}

TEST(Neighbour, LivesAsLongAsItsObject) {
  for (const NeighbourKind kind :
       {NeighbourKind::kCore, NeighbourKind::kBus, NeighbourKind::kBursts}) {
    pid_t process = 0;
    {
      const Neighbour neighbour(kind);
      process = neighbour.process();
      ASSERT_GT(process, 0);
      EXPECT_TRUE(exists(process));
    }
    EXPECT_FALSE(exists(process)) << to_string(kind);
  }
}

TEST(Neighbour, TakesAProcessor) {
  const Neighbour neighbour(NeighbourKind::kCore);
  bool alive = true;
  while (alive && cpu_seconds(neighbour.process(), &alive) < 0.01) {
  }
  EXPECT_TRUE(alive);
}

}  // namespace
}  // namespace tare::device
