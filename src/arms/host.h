// The parent's side of an arm host: a process of its own in which one implementation lives.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "arms/control_page.h"
#include "arms/host_environment.h"
#include "arms/shared_memory.h"

namespace tare::arms {

struct HostOptions {
  std::string executable;  // this program
  std::string module_path;
  std::uint32_t threads = 1;
  Settings environment{};                // beside the usual, and over it
  const SharedMemory* inputs = nullptr;  // read-only to the host; must outlive it
  const SharedMemory* outputs = nullptr;
  std::chrono::milliseconds patience{20'000};  // longest answer before an arm counts as hung
};

struct ArmDescription {
  std::string name, title;
  std::string refusal;  // why it cannot be used on this machine; "" when it can
  std::uint32_t flags = 0;
};

struct Prepared {
  std::uint32_t executor = 0;
  PrepareReply cost;
};

struct Described {
  tare_dispatch_record record;
  std::uint64_t l2_set_aside_bytes = 0;  // device/l2_set_aside.h
};

struct TimedRegion {
  RegionReply inside;        // as the host timed it
  double outer_seconds = 0;  // the parent's clock, both hand-overs included
};

// One arm host. Every call throws tare::Error (kArm) when the host crashes, exits, hangs or reports
// a failure, naming the call of the module it was in (ControlWordChanged of region.h where that was
// the failure); a host that is gone stays gone until
// restart(). Throws Interrupted on ^C. Not thread-safe.
class Host {
 public:
  // Starts the process and loads the module.
  explicit Host(const HostOptions& options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::vector<ArmDescription>& arms() const { return arms_; }
  const std::string& module_path() const { return options_.module_path; }
  bool alive() const { return pid_ > 0; }
  // How often it was started: executors belong to one life of the process.
  std::uint32_t life() const { return life_; }
  void restart();  // what was prepared is lost

  // Why the arm does not compute the problem; nothing when it does.
  std::optional<std::string> refusal(std::uint32_t arm, const tare_problem& problem);

  // In two steps, so that several hosts prepare side by side.
  void begin_prepare(std::uint32_t arm, const tare_problem& problem, std::uint32_t slots,
                     const WeightRequest& weights, bool keep_raw, const Parts& parts = {});
  Prepared end_prepare(std::chrono::milliseconds patience);
  bool set_rows(std::uint32_t executor, std::uint32_t rows);
  // An executor of its own, whose one dispatch is all of these in their order, of executors that
  // stay as long as it does. It is opened, run, described and destroyed as any other; a region's
  // slots mean nothing to it. On the processor only. Throws, too, where there are more than
  // kMostLinks.
  std::uint32_t chain(std::span<const Link> links);
  void destroy(std::uint32_t executor);
  // The same where nobody listens, as in destructors: an arm that crashes there has given its
  // numbers already, and ^C is noticed again by the next call that waits.
  void discard(std::uint32_t executor) noexcept;

  // The untimed dispatch that precedes a region; an arm on a device makes the region ready, too.
  void open_region(std::uint32_t executor, const RegionRequest& request);
  // Of an arm on a device, outputs and its own clock are fetched when the parent's has stopped.
  TimedRegion region(std::uint32_t executor, const RegionRequest& request);
  Described describe(std::uint32_t executor);

  // Processor time the host has used since it started; 0 when it is gone.
  double cpu_seconds() const;
  // Whether any of its threads runs at this moment. Once asleep it is taken to sleep until it is
  // told something: a thread that wakes by itself shows in cpu_seconds().
  bool awake();

 private:
  void spawn();
  void open();
  Reply& ask(Command command, std::chrono::milliseconds patience);
  void send(Command command);
  Reply& await(std::chrono::milliseconds patience);
  [[noreturn]] void died(int status);
  [[noreturn]] void hung(std::chrono::milliseconds patience);
  void kill_host();
  Phase phase() const;
  std::string last_words() const;
  std::string who() const;

  HostOptions options_;
  SharedMemory control_;
  SharedMemory log_;  // what the module prints goes here, not into a table
  ControlPage* page_ = nullptr;
  pid_t pid_ = -1;
  std::uint32_t life_ = 0;
  bool asleep_ = false;  // seen so after the last command
  std::vector<ArmDescription> arms_;
  std::set<std::uint32_t> on_device_;  // executors whose outputs must be collected
};

}  // namespace tare::arms
