// Who is there on this machine: every module that was found, each in its own arm host, and why the
// others are not.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arms/host.h"

namespace tare::arms {

enum class Part { kIncumbent, kCandidate, kLimit };

// One arm of a module that was loaded.
struct RosterArm {
  std::string module;  // "onednn"
  std::string path;    // of its file
  Host* host = nullptr;
  std::uint32_t index = 0;  // within the module
  ArmDescription description;
  Part part = Part::kIncumbent;
  bool plugin = false;  // given by the user with --arm
  Parts parts{};        // computes a fused projection by these, each a dispatch; none: at once
};

// What the name of an arm by parts ends with: "onednn-parts".
inline constexpr std::string_view kByPartsSuffix = "-parts";

// An implementation that cannot be used here.
struct Absent {
  std::string name;
  std::string reason;       // a sentence: what is missing and what to do
  bool plugin = false;      // given by the user with --arm
  bool on_request = false;  // fetched when somebody wants it, not by set-up
};

// Where arms run: their modules are others.
enum class Where { kProcessor, kCuda };

struct RosterOptions {
  std::string executable;     // this program, to start hosts from
  std::string module_folder;  // where the built-in modules are
  Where where = Where::kProcessor;
  std::vector<std::string> plugins;  // --arm: paths of users' modules, whose arms are candidates
  std::uint32_t threads = 1;
  const SharedMemory* inputs = nullptr;
  const SharedMemory* outputs = nullptr;
  std::chrono::milliseconds patience{20'000};
};

class Roster {
 public:
  // Starts a host for every module. A built-in module that fails is absent; a plugin that fails is
  // absent, too, and the caller decides what that means.
  explicit Roster(const RosterOptions& options);

  const std::vector<RosterArm>& arms() const { return arms_; }
  const std::vector<Absent>& absent() const { return absent_; }
  const std::vector<Host*>& hosts() const { return all_; }

  // The same arm, computing a fused projection by parts: "onednn-parts". `parts`: n of each;
  // Parts::kMost at most. Stays as long as the roster.
  const RosterArm& by_parts(const RosterArm& arm, std::span<const std::uint64_t> parts);

  // Starts those hosts again that a crash or a hang took away.
  void revive();

 private:
  void add(const RosterOptions& options, const std::string& path, bool plugin);
  void add_arms(Host* host, const std::string& path, bool plugin);

  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Host*> all_;
  std::vector<RosterArm> arms_;
  std::list<RosterArm> by_parts_;
  std::vector<Absent> absent_;
};

// The folder of built-in modules that belongs to an executable: ../lib/tare/modules beside its bin,
// in the build tree and where it was installed.
std::string module_folder_of(const std::string& executable);

}  // namespace tare::arms
