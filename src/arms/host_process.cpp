#include "arms/host_process.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>

#include "arms/control_page.h"
#include "arms/futex.h"
#include "arms/server.h"
#include "arms/shared_memory.h"
#include "base/error.h"

namespace tare::arms {
namespace {

std::uint64_t number(const char* text) {
  std::uint64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end)
    fail(Blame::kInput,
         "'{}' is Tare's own way to start an arm host; it is not meant to be called by hand.",
         kHostVerb);
  return value;
}

// The first `threads` processors that this process may use: the same for every arm host.
void keep_to_processors(std::uint32_t threads) {
  cpu_set_t allowed, kept;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&kept);
  for (int cpu = 0; cpu < CPU_SETSIZE && threads > 0; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &kept);
      --threads;
    }
  sched_setaffinity(0, sizeof kept, &kept);
}

void serve_until_quit(ControlPage& page, Server& server, pid_t parent) {
  while (true) {
    // The parent may be gone without a word: its death signal is armed only after exec.
    if (getppid() != parent) return;
    if (!futex_wait(page.turn, static_cast<std::uint32_t>(Turn::kParent),
                    std::chrono::milliseconds(1000)))
      continue;
    server.serve(page);
    const bool quit = page.command == Command::kQuit;
    page.turn.store(static_cast<std::uint32_t>(Turn::kParent), std::memory_order_release);
    futex_wake(page.turn);
    if (quit) return;
  }
}

}  // namespace

HostArguments parse_host_arguments(int count, char** arguments) {
  if (count != 7) number("");
  HostArguments parsed;
  parsed.module_path = arguments[0];
  parsed.threads = static_cast<std::uint32_t>(number(arguments[1]));
  parsed.control_descriptor = static_cast<int>(number(arguments[2]));
  parsed.inputs_descriptor = static_cast<int>(number(arguments[3]));
  parsed.inputs_bytes = number(arguments[4]);
  parsed.outputs_descriptor = static_cast<int>(number(arguments[5]));
  parsed.outputs_bytes = number(arguments[6]);
  return parsed;
}

int run_host(const HostArguments& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t parent = getppid();
  keep_to_processors(arguments.threads);
  const auto control = SharedMemory::attach(arguments.control_descriptor, sizeof(ControlPage),
                                            SharedMemory::Access::kReadWrite);
  const auto inputs = SharedMemory::attach(arguments.inputs_descriptor, arguments.inputs_bytes,
                                           SharedMemory::Access::kReadOnly);
  const auto outputs = SharedMemory::attach(arguments.outputs_descriptor, arguments.outputs_bytes,
                                            SharedMemory::Access::kReadWrite);
  Server server(arguments.module_path, arguments.threads,
                {static_cast<const std::byte*>(inputs.data()), inputs.size()},
                {static_cast<std::byte*>(outputs.data()), outputs.size()});
  serve_until_quit(*static_cast<ControlPage*>(control.data()), server, parent);
  // Without the library's own tear-down: thread pools of several libraries hang or crash in static
  // destructors.
  _exit(0);
}

}  // namespace tare::arms
