// The page an arm host and its parent share: whose turn it is, what is asked, what came of it. One
// command at a time; the side whose turn it is not sleeps on the futex. Fixed-size plain data:
// nothing the host writes can make the parent read outside it.
#pragma once

#include <atomic>
#include <cstdint>

#include "load/source.h"
#include "prove/data.h"
#include "tare/arm.h"

namespace tare::arms {

inline constexpr std::uint32_t kMostArms = 32;       // arms of one module
inline constexpr std::uint32_t kMostExecutors = 64;  // prepared at the same time in one host
inline constexpr std::uint32_t kMostLinks = 2048;    // of one chain
inline constexpr std::uint32_t kTextBytes = 2048;

enum class Turn : std::uint32_t { kParent = 0, kHost = 1 };

enum class Command : std::uint32_t {
  kOpen = 1,
  kSupports,
  kPrepare,
  kSetRows,
  kChain,       // executors that are there become one of many dispatches
  kOpenRegion,  // the untimed dispatch before a region
  kRegion,
  kCollect,  // what a device holds of the region: outputs, its own clock
  kDescribe,
  kDestroy,
  kQuit
};

// The call of the module that the host is in: told to the parent when the host dies or hangs.
enum class Phase : std::uint32_t {
  kIdle,
  kLoad,
  kOpen,
  kSupports,
  kPrepare,
  kBind,
  kSetRows,
  kEnqueue,
  kFence,
  kStage,
  kLaunch,
  kCollect,
  kDescribe,
  kDestroy
};
const char* to_string(Phase phase);

struct ArmEntry {
  char name[64];
  char title[96];     // title and version, as a table prints it: "oneDNN 2.6.3"
  char refusal[512];  // why open() failed; "" when the arm is usable
  std::uint32_t flags;
};

// Which part of the ring a region rotates through, and where its outputs go.
struct RegionRequest {
  std::uint64_t base_slot = 0;   // of the slots used
  std::uint64_t first_slot = 0;  // among them
  std::uint64_t dispatches = 1;
  std::uint64_t slots_used = 1;    // rotates through slots base_slot .. base_slot + slots_used - 1
  std::uint32_t inputs = 1;        // x of slot s is input s % inputs
  std::uint64_t input_stride = 0;  // bytes
  std::uint32_t outputs = 1;       // y of dispatch i is output i % outputs
  std::uint64_t output_offset = 0;
  std::uint64_t output_stride = 0;
  std::uint64_t y_bytes = 0;      // of one y
  std::uint64_t kept_offset = 0;  // where the last y is copied to as soon as the clock has stopped
  std::uint32_t per_call = 0;     // prepare, bind and destroy inside the region
  std::uint32_t guarded = 0;      // every x and y between guard pages: see run_guarded()
  std::uint64_t input_bytes = 0, output_bytes = 0;  // of both areas: what a device copies
  std::uint32_t device_flags = 0;                   // TARE_REGION_..., of arms on a device

  // The slot of a dispatch of the region.
  std::uint64_t slot(std::uint64_t dispatch) const {
    return base_slot + (first_slot + dispatch) % slots_used;
  }

  friend bool operator==(const RegionRequest&, const RegionRequest&) = default;
};

// One dispatch of a chain: a whole token's, one after the other, is what a decoder does. Addresses
// are bytes into the inputs and the outputs.
struct Link {
  std::uint32_t executor = 0;
  std::uint32_t slot = 0;
  std::uint64_t x_offset = 0;
  std::uint64_t y_offset = 0;
};

// What a proof wants of the weights.
struct WeightRequest {
  std::uint64_t seed = 0;
  prove::Data data = prove::Data::kUsual;
  std::uint32_t guarded = 0;  // each slot between guard pages, as handed to bind()
  load::Source model{};       // of Data::kModel: every slot's
};

// A projection's outputs as several dispatches, one after the other, would compute them: those of
// q, then those of k, then those of v. No parts: one dispatch does all.
struct Parts {
  static constexpr std::uint32_t kMost = 4;
  std::uint32_t count = 0;
  std::uint64_t n[kMost]{};  // add up to the problem's
  friend bool operator==(const Parts&, const Parts&) = default;
};

struct Request {
  std::uint32_t arm = 0;
  std::uint32_t executor = 0;
  tare_problem problem{};
  std::uint32_t slots = 0;
  std::uint32_t keep_raw = 0;  // keep the weights as generated, for per-call regions
  WeightRequest ring{};
  Parts parts{};
  RegionRequest region{};
  std::uint32_t link_count = 0;
  Link links[kMostLinks]{};
};

struct PrepareReply {
  double plan_seconds = 0;  // prepare()
  double bind_seconds_per_slot = 0;
  std::uint64_t bytes_per_slot = 0;
  double huge_page_share = 0;
  std::uint32_t on_device = 0;  // its outputs are to be collected
};

struct RegionReply {
  double seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t page_faults = 0;
  std::uint64_t new_mappings = 0;
  std::uint64_t involuntary_switches = 0;
  double device_seconds = 0;  // the device's own clock; 0: none
};

struct Reply {
  std::uint32_t ok = 0;
  std::uint32_t control_word_changed = 0;  // why ok is 0: the floating-point mode is another
  std::uint32_t executor = 0;
  PrepareReply prepare{};
  RegionReply region{};
  tare_dispatch_record record{};
  std::uint64_t l2_set_aside_bytes = 0;  // with the record
  std::uint32_t arm_count = 0;
  ArmEntry arms[kMostArms]{};
  char text[kTextBytes]{};  // why not, when ok is 0
};

struct ControlPage {
  std::atomic<std::uint32_t> turn{static_cast<std::uint32_t>(Turn::kParent)};
  std::atomic<std::uint32_t> phase{0};
  Command command = Command::kOpen;
  Request request{};
  Reply reply{};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the turn is a futex word");

}  // namespace tare::arms
