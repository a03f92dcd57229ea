#include "device/quiet.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace tare::device {
namespace {

// A child that says when it is ready, then burns or sleeps until it is killed.
class Child {
 public:
  explicit Child(bool burns, const char* name = nullptr) {
    int ready[2];
    if (pipe(ready) != 0) ADD_FAILURE() << "no pipe";
    pid_ = fork();
    if (pid_ == 0) {
      if (name != nullptr) prctl(PR_SET_NAME, name);
      live(burns, ready[1]);
    }
    char byte = 0;
    if (read(ready[0], &byte, 1) != 1) ADD_FAILURE() << "the child did not start";
    close(ready[0]);
    close(ready[1]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    ended_ = std::exchange(pid_, 0);
  }
  pid_t pid() const { return pid_ > 0 ? pid_ : ended_; }

 private:
  [[noreturn]] static void live(bool burns, int ready) {
    if (write(ready, "r", 1) != 1) _exit(1);
    for (;;) {
      if (!burns) pause();
      asm volatile("");  // a loop that does nothing may be taken for one that ends
    }
  }
  pid_t pid_ = 0, ended_ = 0;
};

TEST(Quiet, AChildThatBurnsIsToldFromOneThatSleeps) {
  const Child sleeper(false), burner(true);
  const double sleeper_before = cpu_seconds(sleeper.pid());
  const double burner_before = cpu_seconds(burner.pid());
  double burnt = 0;
  while (burnt < 0.02) burnt = cpu_seconds(burner.pid()) - burner_before;
  EXPECT_GT(burnt, cpu_seconds(sleeper.pid()) - sleeper_before);
}

TEST(Quiet, AProcessThatIsGoneHasNoTimeAndIsNotAlive) {
  Child child(true);
  bool alive = true;
  while (alive && cpu_seconds(child.pid(), &alive) == 0) {  // until the first tick
  }
  EXPECT_TRUE(alive);
  child.end();
  EXPECT_EQ(cpu_seconds(child.pid(), &alive), 0);
  EXPECT_FALSE(alive);
  EXPECT_EQ(cpu_seconds(child.pid()), 0);
}

TEST(Quiet, NoProcessHasAPidBelowOne) {
  bool alive = true;
  EXPECT_EQ(cpu_seconds(0, &alive), 0);
  EXPECT_FALSE(alive);
  EXPECT_EQ(cpu_seconds(-1, &alive), 0);
}

bool falls_asleep(pid_t pid) {
  // It has said that it is ready, and may not be asleep yet.
  for (int look = 0; look < 1000; ++look) {
    if (running_threads(pid) == 0) return true;
    usleep(1000);
  }
  return false;
}

TEST(Quiet, AThreadsNameIsNotItsState) {
  EXPECT_TRUE(falls_asleep(Child(false, "x) R 1 (y").pid()));
  EXPECT_EQ(running_threads(Child(true, "x) S 1 (y").pid()), 1u);
}

TEST(Quiet, AProcessThatHasEndedRunsNoThreads) {
  Child child(true);
  child.end();
  EXPECT_EQ(running_threads(child.pid()), 0u);
}

TEST(Quiet, OnlyAThreadThatRunsIsCounted) {
  const Child sleeper(false), burner(true);
#if !defined(__SANITIZE_THREAD__)  // it has a thread of its own in every process
  EXPECT_EQ(running_threads(burner.pid()), 1u);
#endif
  EXPECT_TRUE(falls_asleep(sleeper.pid()));
  EXPECT_EQ(running_threads(-1), 0u);
}

}  // namespace
}  // namespace tare::device
