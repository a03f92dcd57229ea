#include "device/neighbour.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>

#include "base/error.h"

namespace tare::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCopyBytes = std::size_t{256} << 20;  // past every cache it could stay in
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// What runs in the child after fork() does not allocate: another thread may have held the heap.

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

void compute() {
  volatile std::uint64_t value = 1;
  for (int step = 0; step < 20000; ++step) value = value * 6364136223846793005u + 1;
}

// Piece by piece through two halves of memory.
class Copier {
 public:
  explicit Copier(char* memory) : memory_(memory) { std::memset(memory, 1, kCopyBytes); }
  void copy() {
    std::memcpy(memory_ + at_, memory_ + kCopyBytes / 2 + at_, kPieceBytes);
    at_ = (at_ + kPieceBytes) % (kCopyBytes / 2);
  }

 private:
  char* memory_;
  std::size_t at_ = 0;
};

void burst(Copier& copier, std::mt19937_64& random) {
  std::exponential_distribution<double> pause(1 / 0.3);
  std::uniform_real_distribution<double> length(0.02, 0.2);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause(random)));
  const auto end = Clock::now() + std::chrono::duration<double>(length(random));
  while (Clock::now() < end) {
    compute();
    copier.copy();
  }
}

[[noreturn]] void live(NeighbourKind kind, char* memory, std::uint64_t seed, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it ended before the line above
  if (kind != NeighbourKind::kBursts) pin_to_last_processor();
  Copier copier(memory);
  std::mt19937_64 random(seed);
  while (true) {
    if (kind == NeighbourKind::kCore) compute();
    if (kind == NeighbourKind::kBus) copier.copy();
    if (kind == NeighbourKind::kBursts) burst(copier, random);
  }
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
    case NeighbourKind::kBursts:
      return "bursts";
  }
  return "unknown";
}

Neighbour::Neighbour(NeighbourKind kind, std::uint64_t seed) {
  if (kind == NeighbourKind::kNone) return;
  const pid_t parent = getpid();
  void* memory =
      mmap(nullptr, kCopyBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail(Blame::kMachine, "No memory for the neighbour ({}): close other programs.",
         std::strerror(errno));
  process_ = fork();
  const int error = errno;
  if (process_ == 0) live(kind, static_cast<char*>(memory), seed, parent);
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
