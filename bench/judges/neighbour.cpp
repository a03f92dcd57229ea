#include "judges/neighbour.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace tare::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Past every cache that it could stay in.
constexpr std::size_t kCopyBytes = std::size_t{128} << 20;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

class Copier {
 public:
  Copier() : from_(kCopyBytes, 1), to_(kCopyBytes, 2) {}
  void copy_piece() {
    std::memcpy(to_.data() + at_, from_.data() + at_, kPieceBytes);
    at_ = (at_ + kPieceBytes) % kCopyBytes;
  }

 private:
  std::vector<char> from_, to_;
  std::size_t at_ = 0;
};

void compute_piece() {
  volatile std::uint64_t sum = 1;
  for (int step = 0; step < 20000; ++step) sum = sum * 6364136223846793005u + 1;
}

[[noreturn]] void burn_bus() {
  cpu_set_t second;
  CPU_ZERO(&second);
  CPU_SET(1, &second);
  sched_setaffinity(0, sizeof second, &second);  // one processor only: then it shares that one
  Copier copier;
  while (true) copier.copy_piece();
}

[[noreturn]] void burst(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> pause(1 / 0.3);
  std::uniform_real_distribution<double> length(0.02, 0.2);
  Copier copier;
  while (true) {
    std::this_thread::sleep_for(std::chrono::duration<double>(pause(random)));
    const auto end = Clock::now() + std::chrono::duration<double>(length(random));
    while (Clock::now() < end) {
      compute_piece();
      copier.copy_piece();
    }
  }
}

}  // namespace

NeighbourKind neighbour_kind(std::string_view word) {
  if (word == "none") return NeighbourKind::kNone;
  if (word == "bursts") return NeighbourKind::kBursts;
  if (word == "bus") return NeighbourKind::kBus;
  fail(Blame::kInput, "there is no neighbour '{}': say none, bursts or bus", word);
}

Neighbour::Neighbour(NeighbourKind kind, std::uint64_t seed) {
  if (kind == NeighbourKind::kNone) return;
  process_ = fork();
  if (process_ < 0)
    fail(Blame::kMachine, "no process for the neighbour ({}): stop other programs",
         std::strerror(errno));
  if (process_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the recorder
  if (kind == NeighbourKind::kBus) burn_bus();
  burst(seed);
}

Neighbour::~Neighbour() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace tare::bench
