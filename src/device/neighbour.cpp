#include "device/neighbour.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace tare::device {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{256} << 20;  // past every cache it could stay in

// What runs in the child after fork() must not allocate: another thread may have held the heap.

void pin_to_last_processor() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int last = -1;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &allowed)) last = processor;
  if (last < 0) return;
  CPU_ZERO(&allowed);
  CPU_SET(last, &allowed);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

[[noreturn]] void burn_core() {
  volatile std::uint64_t value = 1;
  while (true) value = value * 6364136223846793005u + 1442695040888963407u;
}

[[noreturn]] void burn_bus(char* memory) {
  constexpr std::size_t kHalf = kCopyBytes / 2;
  std::memset(memory, 1, kCopyBytes);
  while (true) {
    std::memcpy(memory, memory + kHalf, kHalf);
    std::memcpy(memory + kHalf, memory, kHalf);
  }
}

[[noreturn]] void burn(NeighbourKind kind, char* memory, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it ended before the line above
  pin_to_last_processor();
  if (kind == NeighbourKind::kBus) burn_bus(memory);
  burn_core();
}

}  // namespace

std::string_view to_string(NeighbourKind kind) {
  switch (kind) {
    case NeighbourKind::kNone:
      return "quiet";
    case NeighbourKind::kCore:
      return "core burner";
    case NeighbourKind::kBus:
      return "bus burner";
  }
  return "unknown";
}

Neighbour::Neighbour(NeighbourKind kind) {
  if (kind == NeighbourKind::kNone) return;
  const pid_t parent = getpid();
  void* memory =
      mmap(nullptr, kCopyBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail(Blame::kMachine, "No memory for the neighbour ({}): close other programs.",
         std::strerror(errno));
  process_ = fork();
  const int error = errno;
  if (process_ == 0) burn(kind, static_cast<char*>(memory), parent);
  munmap(memory, kCopyBytes);  // here; the child has its own, untouched until it writes
  if (process_ < 0) {
    process_ = 0;
    fail(Blame::kMachine, "No process for the neighbour ({}): close other programs.",
         std::strerror(error));
  }
}

Neighbour::~Neighbour() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tare::device
