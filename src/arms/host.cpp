#include "arms/host.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>

#include "arms/futex.h"
#include "arms/host_environment.h"
#include "arms/host_process.h"
#include "arms/region.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "device/quiet.h"

namespace tare::arms {
namespace {

constexpr std::size_t kLogBytes = 64 << 10;
constexpr std::chrono::milliseconds kGlance{100};  // between looks whether the host still lives

// Descriptors as the host sees them: fixed numbers, so that nothing else of the parent's leaks into
// it.
constexpr int kControlDescriptor = 3, kInputsDescriptor = 4, kOutputsDescriptor = 5;

std::string describe_status(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("crashed with signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  return fmt::format("ended its process with exit code {}", WEXITSTATUS(status));
}

// posix_spawn's file actions: free them whatever happens. dup2 of a descriptor onto itself keeps
// close-on-exec, so the sources are moved out of the way of the targets first (fcntl F_DUPFD).
class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // A group of its own: the terminal's ^C reaches Tare and not a host in a region.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
    for (const int descriptor : moved_) close(descriptor);
  }
  void give(int descriptor, int as) {
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
    moved_.push_back(moved);
    posix_spawn_file_actions_adddup2(&actions_, moved, as);
  }
  void give_nothing(int as) {
    posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDONLY, 0);
  }
  pid_t run(const std::string& executable, std::vector<std::string> arguments,
            std::vector<std::string> environment) {
    pid_t pid = -1;
    const int error = posix_spawn(&pid, executable.c_str(), &actions_, &attributes_,
                                  pointers(arguments).data(), pointers(environment).data());
    if (error != 0)
      fail(Blame::kMachine, "Cannot start an arm host ({}): {}.", executable, std::strerror(error));
    return pid;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<int> moved_;
};

}  // namespace

Host::Host(const HostOptions& options) : options_(options) {
  spawn();
  open();
}

Host::~Host() {
  if (!alive()) return;
  try {
    ask(Command::kQuit, std::chrono::milliseconds(2000));
  } catch (...) {  // a module that crashes or hangs in destroy() must not take the results along
  }
  kill_host();
}

void Host::restart() {
  kill_host();
  spawn();
  open();
}

void Host::spawn() {
  ++life_;
  on_device_.clear();
  control_ = SharedMemory::create("tare-control", sizeof(ControlPage));
  page_ = new (control_.data()) ControlPage;
  log_ = SharedMemory::create("tare-log", kLogBytes);
  // A module that prints without end fills 64 KiB and is then told that the file is full.
  fcntl(log_.descriptor(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
  Spawn process;
  process.give_nothing(STDIN_FILENO);
  process.give(log_.descriptor(), STDOUT_FILENO);
  process.give(log_.descriptor(), STDERR_FILENO);
  process.give(control_.descriptor(), kControlDescriptor);
  process.give(options_.inputs->descriptor(), kInputsDescriptor);
  process.give(options_.outputs->descriptor(), kOutputsDescriptor);
  pid_ = process.run(options_.executable,
                     {options_.executable, kHostVerb, options_.module_path,
                      std::to_string(options_.threads), std::to_string(kControlDescriptor),
                      std::to_string(kInputsDescriptor), std::to_string(options_.inputs->size()),
                      std::to_string(kOutputsDescriptor), std::to_string(options_.outputs->size())},
                     host_environment(options_.threads, options_.environment));
}

void Host::open() {
  const Reply& reply = ask(Command::kOpen, options_.patience);
  arms_.clear();
  for (std::uint32_t i = 0; i < std::min(reply.arm_count, kMostArms); ++i) {
    const ArmEntry& entry = reply.arms[i];
    arms_.push_back({entry.name, entry.title, entry.refusal, entry.flags});
  }
}

std::optional<std::string> Host::refusal(std::uint32_t arm, const tare_problem& problem) {
  page_->request.arm = arm;
  page_->request.problem = problem;
  send(Command::kSupports);
  const Reply& reply = await(options_.patience);
  if (reply.ok != 0) return std::nullopt;
  return std::string(reply.text);
}

void Host::begin_prepare(std::uint32_t arm, const tare_problem& problem, std::uint32_t slots,
                         const WeightRequest& weights, bool keep_raw, const Parts& parts) {
  Request& request = page_->request;
  request.arm = arm;
  request.problem = problem;
  request.slots = slots;
  request.ring = weights;
  request.keep_raw = keep_raw ? 1 : 0;
  request.parts = parts;
  send(Command::kPrepare);
}

Prepared Host::end_prepare(std::chrono::milliseconds patience) {
  const Reply& reply = await(patience);
  if (reply.ok == 0) fail(Blame::kArm, "{}: {}", who(), reply.text);
  if (reply.prepare.on_device != 0) on_device_.insert(reply.executor);
  return {reply.executor, reply.prepare};
}

bool Host::set_rows(std::uint32_t executor, std::uint32_t rows) {
  page_->request.executor = executor;
  page_->request.problem.rows = rows;
  send(Command::kSetRows);
  return await(options_.patience).ok != 0;
}

std::uint32_t Host::chain(std::span<const Link> links) {
  if (links.size() > kMostLinks)
    fail(Blame::kArm, "a chain has at most {} dispatches, and this one {}", kMostLinks,
         links.size());
  page_->request.link_count = static_cast<std::uint32_t>(links.size());
  std::ranges::copy(links, page_->request.links);
  return ask(Command::kChain, options_.patience).executor;
}

void Host::destroy(std::uint32_t executor) {
  page_->request.executor = executor;
  ask(Command::kDestroy, options_.patience);
  on_device_.erase(executor);
}

void Host::discard(std::uint32_t executor) noexcept {
  if (!alive()) return;
  try {
    destroy(executor);
  } catch (...) {
  }
}

void Host::open_region(std::uint32_t executor, const RegionRequest& request) {
  page_->request.executor = executor;
  page_->request.region = request;
  ask(Command::kOpenRegion, options_.patience);
}

TimedRegion Host::region(std::uint32_t executor, const RegionRequest& request) {
  page_->request.executor = executor;
  page_->request.region = request;
  const auto start = std::chrono::steady_clock::now();
  const Reply& reply = ask(Command::kRegion, options_.patience);
  const auto stop = std::chrono::steady_clock::now();
  TimedRegion timed{reply.region, std::chrono::duration<double>(stop - start).count()};
  if (on_device_.contains(executor))
    timed.inside.device_seconds = ask(Command::kCollect, options_.patience).region.device_seconds;
  return timed;
}

Described Host::describe(std::uint32_t executor) {
  page_->request.executor = executor;
  const Reply& reply = ask(Command::kDescribe, options_.patience);
  return {reply.record, reply.l2_set_aside_bytes};
}

double Host::cpu_seconds() const {
  return alive() ? device::cpu_seconds(pid_) : 0;
}

bool Host::awake() {
  if (!asleep_) asleep_ = !alive() || device::running_threads(pid_) == 0;
  return !asleep_;
}

// Sends a command and demands success. A host that failed with work on a device ends: after a
// kernel that faulted, CUDA answers every later call of the process with that same error.
Reply& Host::ask(Command command, std::chrono::milliseconds patience) {
  send(command);
  Reply& reply = await(patience);
  if (reply.control_word_changed != 0)
    throw ControlWordChanged(Blame::kArm, fmt::format("{}: {}", who(), reply.text));
  if (reply.ok != 0) return reply;
  const std::string sentence = fmt::format("{}: {}", who(), reply.text);
  if (!on_device_.empty()) kill_host();
  fail(Blame::kArm, "{}", sentence);
}

void Host::send(Command command) {
  if (!alive()) fail(Blame::kArm, "{}: its arm host is gone.", who());
  asleep_ = false;
  page_->command = command;
  page_->turn.store(static_cast<std::uint32_t>(Turn::kHost), std::memory_order_release);
  futex_wake(page_->turn);
}

Reply& Host::await(std::chrono::milliseconds patience) {
  // A look that comes late is no fault of the arm: all of the machine was stopped, or starved.
  std::chrono::steady_clock::duration waited{0};
  auto looked = std::chrono::steady_clock::now();
  while (!futex_wait(page_->turn, static_cast<std::uint32_t>(Turn::kHost), kGlance)) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) died(status);
    if (interrupt_requested()) {
      kill_host();
      throw Interrupted();
    }
    const auto now = std::chrono::steady_clock::now();
    waited += std::min<std::chrono::steady_clock::duration>(now - looked, 2 * kGlance);
    looked = now;
    if (waited > patience) hung(patience);
  }
  page_->reply.text[kTextBytes - 1] = '\0';
  return page_->reply;
}

void Host::died(int status) {
  pid_ = -1;
  fail(Blame::kArm, "{} {} {}.{}", who(), describe_status(status), to_string(phase()),
       last_words());
}

void Host::hung(std::chrono::milliseconds patience) {
  kill_host();
  fail(Blame::kArm, "{} hangs: no answer for {} s {}. It was stopped.{}", who(),
       std::chrono::duration_cast<std::chrono::seconds>(patience).count(), to_string(phase()),
       last_words());
}

void Host::kill_host() {
  if (!alive()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Phase Host::phase() const {
  return static_cast<Phase>(page_->phase.load(std::memory_order_relaxed));
}

// The last line the module printed: often the reason ("Assertion ... failed").
std::string Host::last_words() const {
  const char* text = static_cast<const char*>(log_.data());
  std::string printed(text, strnlen(text, log_.size()));
  while (!printed.empty() && std::isspace(static_cast<unsigned char>(printed.back())))
    printed.pop_back();
  if (const auto line = printed.find_last_of('\n'); line != std::string::npos)
    printed.erase(0, line + 1);
  std::erase_if(printed, [](unsigned char c) { return std::iscntrl(c) != 0; });
  if (printed.empty()) return "";
  return fmt::format(" It printed last: \"{}\"", printed.substr(0, 200));
}

std::string Host::who() const {
  return std::filesystem::path(options_.module_path).filename().string();
}

}  // namespace tare::arms
