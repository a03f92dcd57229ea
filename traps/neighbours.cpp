#include "traps/neighbours.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tare::traps {
namespace {

using Clock = std::chrono::steady_clock;

// Even phases of the clock are for burning.
[[noreturn]] void burn(double phase_seconds) {
  constexpr unsigned kAtMost = 60;
  alarm(kAtMost);
  for (;;) {
    const double now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    const bool asleep = phase_seconds > 0 && static_cast<long>(now / phase_seconds) % 2 == 1;
    if (asleep) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Neighbours::Neighbours(double phase_seconds) {
  for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) {
    const pid_t child = fork();
    if (child == 0) burn(phase_seconds);
    if (child > 0) children_.push_back(child);
  }
}

Neighbours::~Neighbours() {
  for (const pid_t child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace tare::traps
