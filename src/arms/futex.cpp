#include "arms/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace tare::arms {
namespace {

// The word lies in memory shared between processes, so the private futex operations would not do.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                 nullptr, 0);
}

}  // namespace

bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::chrono::milliseconds most) {
  if (word.load(std::memory_order_acquire) != value) return true;
  const auto count = most.count();
  const timespec timeout{static_cast<time_t>(count / 1000),
                         static_cast<long>(count % 1000) * 1'000'000};
  futex(word, FUTEX_WAIT, value, &timeout);
  return word.load(std::memory_order_acquire) != value;
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  futex(word, FUTEX_WAKE, 1, nullptr);
}

}  // namespace tare::arms
