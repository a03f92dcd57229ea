#include "traps/throttle.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace tare::traps {
namespace {

using Clock = std::chrono::steady_clock;

// Odd phases of the clock are for sleeping.
[[noreturn]] void burn(std::chrono::milliseconds phase) {
  constexpr unsigned kAtMost = 60;
  alarm(kAtMost);
  for (;;)
    if (Clock::now().time_since_epoch() / phase % 2 == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

Throttle::Throttle(std::chrono::milliseconds phase) {
  for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) {
    const pid_t child = fork();
    if (child == 0) burn(phase);
    if (child > 0) children_.push_back(child);
  }
}

Throttle::~Throttle() {
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace tare::traps
