#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>

#include "base/error.h"
#include "device/machine.h"
#include "device/proc_stat.h"
#include "device/quiet.h"
#include "device/spin.h"
#include "device/text_file.h"
#include "device/topology.h"

namespace tare::device {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

using Processes = std::map<int, ProcessTime>;

// Every process that can be seen, but this one. A process may end while we look: then it has no
// line.
Processes other_processes() {
  Processes processes;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    if (!parse_number(entry.path().filename().string())) continue;
    const ProcessTime process =
        parse_process_time(read_text(entry.path() / "stat").value_or(""), ticks_per_second());
    if (process.pid != 0 && process.pid != getpid()) processes[process.pid] = process;
  }
  return processes;
}

// Those that took more than 2 % of one processor, busiest first, five at most.
std::vector<std::string> busiest_between(const Processes& before, const Processes& after,
                                         double seconds) {
  std::vector<std::pair<double, const ProcessTime*>> shares;
  for (const auto& [pid, process] : after) {
    const auto earlier = before.find(pid);
    const double start = earlier == before.end() ? 0 : earlier->second.seconds;
    const double share = (process.seconds - start) / seconds;
    if (share > 0.02) shares.emplace_back(share, &process);
  }
  std::ranges::sort(shares, std::greater<>{}, [](const auto& pair) { return pair.first; });
  shares.resize(std::min<std::size_t>(shares.size(), 5));
  std::vector<std::string> sentences;
  sentences.reserve(shares.size());
  for (const auto& [share, process] : shares) {
    sentences.push_back(
        fmt::format("{} (pid {}) {:.0f} %", process->name, process->pid, share * 100));
  }
  return sentences;
}

void check_duration(double seconds) {
  if (std::isfinite(seconds) && seconds > 0 && seconds <= 3600) return;
  fail(Blame::kInput, "cannot watch the machine for {} seconds: give more than 0 and at most 3600",
       seconds);
}

}  // namespace

Noise watch(double seconds) {
  check_duration(seconds);
  const std::vector<unsigned> processors = allowed_processors();
  const Clock::time_point start = Clock::now();
  const Processes before = other_processes();
  const ProcessorTime machine_before = processor_time();
  const double own_before = cpu_seconds(getpid());

  std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 2));
  const Evenness evenness = spin(processors, seconds / 2);

  const double own = cpu_seconds(getpid()) - own_before;
  const ProcessorTime machine = processor_time();
  Noise noise;
  noise.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  noise.busiest = busiest_between(before, other_processes(), noise.seconds);
  const double online = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const double all = noise.seconds * online;
  noise.steal_share = std::clamp((machine.steal - machine_before.steal) / all, 0.0, 1.0);
  noise.busy_share = std::clamp((machine.busy - machine_before.busy - own) / all, 0.0, 1.0);
  noise.spin_p99_ratio = evenness.p99_ratio;
  noise.spin_max_gap_us = evenness.max_gap_us;
  return noise;
}

}  // namespace tare::device
