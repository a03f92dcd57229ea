#include "arms/region.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "device/guarded_pages.h"
#include "device/pages.h"
#include "formats/weight_format.h"

namespace tare::arms {
namespace {

// The addresses of dispatch i: which slot, which x, which y.
struct Addresses {
  const RegionRequest& request;
  std::span<const std::byte> inputs;
  std::span<std::byte> outputs;

  std::uint32_t slot(std::uint64_t dispatch) const {
    return static_cast<std::uint32_t>(request.slot(dispatch));
  }
  const void* x(std::uint32_t slot) const {
    return inputs.data() + (slot % request.inputs) * request.input_stride;
  }
  void* y(std::uint64_t dispatch) const {
    return outputs.data() + request.output_offset +
           (dispatch % request.outputs) * request.output_stride;
  }

  // The last y as it is now: what an arm still writes after its fence must not count (TRAPS T9).
  void keep(std::uint64_t dispatch) const {
    std::memcpy(outputs.data() + request.kept_offset, y(dispatch), request.y_bytes);
  }
};

// What the operating system counted for this process.
struct Counters {
  double cpu_seconds;
  std::uint64_t page_faults, involuntary_switches;
};

Counters count() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec),
          device::page_faults(), device::involuntary_switches()};
}

// The calling thread's floating-point control: rounding, flushing of denormals. Exception flags may
// change.
std::uint32_t floating_point_mode() {
#if defined(__x86_64__)
  constexpr std::uint32_t kFlags = 0x3f;
  return _mm_getcsr() & ~kFlags;
#else
  return static_cast<std::uint32_t>(std::fegetround());
#endif
}

// A kernel that leaves denormals flushed changes what everybody after it computes (TRAPS C8).
void require_mode(std::uint32_t mode) {
  if (floating_point_mode() == mode) return;
  throw ControlWordChanged(
      Blame::kArm,
      fmt::format("left the floating-point mode changed (control word {:#x} before, {:#x} after): "
                  "rounding or denormals differ for all code that runs later. Restore it before "
                  "enqueue() and fence() return.",
                  mode, floating_point_mode()));
}

// The timed path has no text. A device that failed answers collect() with the reason.
std::string reason_of(const PreparedArm& prepared) {
  if (prepared.device_arm() == nullptr) return "";
  char why[kTextBytes] = "";
  double seconds = 0;
  enter(prepared.phase(), Phase::kCollect);
  const int code = prepared.device_arm()->collect(prepared.executor(), &seconds, why, sizeof why);
  return code != 0 && *why != '\0' ? fmt::format(": {}", why) : "";
}

[[noreturn]] void dispatch_failed(const PreparedArm& prepared, const char* function, int code) {
  fail(Blame::kArm, "{}() failed with code {}{}.", function, code, reason_of(prepared));
}

void dispatch(const PreparedArm& prepared, const Addresses& at, std::uint64_t index) {
  const std::uint32_t slot = at.slot(index);
  const int code = prepared.arm().enqueue(prepared.executor(), slot, at.x(slot), at.y(index));
  if (code != 0) dispatch_failed(prepared, "enqueue", code);
}

void fence(const PreparedArm& prepared) {
  enter(prepared.phase(), Phase::kFence);
  const int code = prepared.arm().fence(prepared.executor());
  if (code != 0) dispatch_failed(prepared, "fence", code);
}

// Times `body` and what the operating system saw meanwhile; `after_it` comes next. The mappings are
// counted outside the timed part: reading them costs tens of microseconds.
template <typename Body, typename After>
RegionReply timed(Body&& body, After&& after_it) {
  const std::uint64_t mappings = device::count_mappings();
  const std::uint32_t mode = floating_point_mode();
  const Counters before = count();
  const auto start = std::chrono::steady_clock::now();
  body();
  const auto stop = std::chrono::steady_clock::now();
  const Counters after = count();
  after_it();
  const std::uint64_t mappings_after = device::count_mappings();
  require_mode(mode);
  RegionReply reply;
  reply.seconds = std::chrono::duration<double>(stop - start).count();
  reply.cpu_seconds = after.cpu_seconds - before.cpu_seconds;
  reply.page_faults = after.page_faults - before.page_faults;
  reply.involuntary_switches = after.involuntary_switches - before.involuntary_switches;
  reply.new_mappings = mappings_after > mappings ? mappings_after - mappings : 0;
  return reply;
}

// One dispatch as a naive caller makes it: everything anew.
void call_once(const PreparedArm& prepared, const Addresses& at, std::uint64_t index) {
  const tare_arm& arm = prepared.arm();
  const std::uint32_t slot = at.slot(index);
  char why[kTextBytes] = "";
  tare_executor* executor = nullptr;
  enter(prepared.phase(), Phase::kPrepare);
  if (arm.prepare(&prepared.problem(), 1, &executor, why, sizeof why) != 0)
    fail(Blame::kArm, "prepare() failed inside a per-call region: {}", why);
  enter(prepared.phase(), Phase::kBind);
  if (arm.bind(executor, 0, prepared.raw_ring()->slot(slot), why, sizeof why) != 0)
    fail(Blame::kArm, "bind() failed inside a per-call region: {}", why);
  enter(prepared.phase(), Phase::kEnqueue);
  if (const int code = arm.enqueue(executor, 0, at.x(slot), at.y(index)); code != 0)
    dispatch_failed(prepared, "enqueue", code);
  enter(prepared.phase(), Phase::kFence);
  if (const int code = arm.fence(executor); code != 0) dispatch_failed(prepared, "fence", code);
  enter(prepared.phase(), Phase::kDestroy);
  arm.destroy(executor);
}

// A region that the device holds already.
void run_staged(const PreparedArm& prepared) {
  enter(prepared.phase(), Phase::kLaunch);
  const int code = prepared.device_arm()->launch(prepared.executor());
  if (code != 0) dispatch_failed(prepared, "launch", code);
  fence(prepared);
}

std::string sentence_or_none(const char* why) {
  return *why != '\0' ? why : "it gave no reason";
}

// Dispatches in the request's mode, every one done when it returns.
void run_dispatches(const PreparedArm& prepared, const Addresses& at, std::uint64_t first,
                    std::uint64_t count) {
  enter(prepared.phase(), Phase::kEnqueue);
  if (at.request.per_call != 0) {
    for (std::uint64_t i = first; i < first + count; ++i) call_once(prepared, at, i);
    return;
  }
  for (std::uint64_t i = first; i < first + count; ++i) dispatch(prepared, at, i);
  fence(prepared);
}

// The arms of a chain, each once, in the order of their first steps.
std::vector<const PreparedArm*> arms_of(std::span<const ChainStep> chain) {
  std::vector<const PreparedArm*> arms;
  for (const ChainStep& step : chain)
    if (std::ranges::find(arms, step.arm) == arms.end()) arms.push_back(step.arm);
  return arms;
}

void dispatch(const ChainStep& step, std::span<const std::byte> inputs,
              std::span<std::byte> outputs) {
  const int code =
      step.arm->arm().enqueue(step.arm->executor(), step.slot, inputs.data() + step.x_offset,
                              outputs.data() + step.y_offset);
  if (code != 0) dispatch_failed(*step.arm, "enqueue", code);
}

void keep(const ChainStep& last, const RegionRequest& request, std::span<std::byte> outputs) {
  std::memcpy(outputs.data() + request.kept_offset, outputs.data() + last.y_offset,
              request.y_bytes);
}

}  // namespace

RegionReply run_chain(std::span<const ChainStep> chain, const RegionRequest& request,
                      std::span<const std::byte> inputs, std::span<std::byte> outputs) {
  const std::vector<const PreparedArm*> arms = arms_of(chain);
  PhaseWord& phase = chain.front().arm->phase();
  const auto all = [&] {
    for (std::uint64_t turn = 0; turn < request.dispatches; ++turn) {
      enter(phase, Phase::kEnqueue);
      for (const ChainStep& step : chain) dispatch(step, inputs, outputs);
      for (const PreparedArm* arm : arms) fence(*arm);
    }
  };
  return timed(all, [&] { keep(chain.back(), request, outputs); });
}

void open_chain(std::span<const ChainStep> chain, const RegionRequest& request,
                std::span<const std::byte> inputs, std::span<std::byte> outputs) {
  const std::uint32_t mode = floating_point_mode();
  const ChainStep& last = chain.back();
  enter(last.arm->phase(), Phase::kEnqueue);
  dispatch(last, inputs, outputs);
  fence(*last.arm);
  keep(last, request, outputs);
  require_mode(mode);
}

bool is_staged(const PreparedArm& prepared, const RegionRequest& request) {
  return prepared.device_arm() != nullptr && request.per_call == 0;
}

void stage_region(const PreparedArm& prepared, const RegionRequest& request,
                  std::span<const std::byte> inputs, std::span<std::byte> outputs) {
  const Addresses at{request, inputs, outputs};
  std::vector<tare_dispatch> dispatches(request.dispatches);
  for (std::uint64_t i = 0; i < request.dispatches; ++i) {
    const std::uint32_t slot = at.slot(i);
    dispatches[i] = {slot, at.x(slot), at.y(i)};
  }
  const tare_region region{dispatches.data(),   dispatches.size(), inputs.data(),
                           request.input_bytes, outputs.data(),    request.output_bytes,
                           request.device_flags};
  char why[kTextBytes] = "";
  enter(prepared.phase(), Phase::kStage);
  if (prepared.device_arm()->stage(prepared.executor(), &region, why, sizeof why) != 0)
    fail(Blame::kArm, "stage() failed: {}", sentence_or_none(why));
}

double collect_region(const PreparedArm& prepared, const RegionRequest& request,
                      std::span<std::byte> outputs) {
  double seconds = 0;
  char why[kTextBytes] = "";
  enter(prepared.phase(), Phase::kCollect);
  if (prepared.device_arm()->collect(prepared.executor(), &seconds, why, sizeof why) != 0)
    fail(Blame::kArm, "collect() failed: {}", sentence_or_none(why));
  Addresses{request, {}, outputs}.keep(request.dispatches - 1);
  return seconds;
}

void open_region(const PreparedArm& prepared, const RegionRequest& request,
                 std::span<const std::byte> inputs, std::span<std::byte> outputs) {
  const std::uint32_t mode = floating_point_mode();
  const Addresses at{request, inputs, outputs};
  run_dispatches(prepared, at, request.slots_used - 1, 1);
  at.keep(request.slots_used - 1);  // so that its pages are there when the region ends
  require_mode(mode);
}

void run_guarded(const PreparedArm& prepared, const RegionRequest& request,
                 std::span<const std::byte> inputs, std::span<std::byte> outputs) {
  const Addresses at{request, inputs, outputs};
  const tare_problem& problem = prepared.problem();
  device::GuardedPages x(problem.rows * problem.k * formats::value_bytes(problem.activations)),
      y(request.y_bytes);
  const std::uint32_t mode = floating_point_mode();
  for (std::uint64_t i = 0; i < request.dispatches; ++i) {
    const std::uint32_t slot = at.slot(i);
    std::memcpy(x.bytes().data(), at.x(slot), x.bytes().size());
    std::memcpy(y.bytes().data(), at.y(i), y.bytes().size());
    if (i + 1 == request.dispatches) x.forbid_writes();
    enter(prepared.phase(), Phase::kEnqueue);
    const int code =
        prepared.arm().enqueue(prepared.executor(), slot, x.bytes().data(), y.bytes().data());
    if (code != 0) dispatch_failed(prepared, "enqueue", code);
    fence(prepared);
    std::memcpy(at.y(i), y.bytes().data(), y.bytes().size());
  }
  require_mode(mode);
  if (!y.margins_intact() || !x.margins_intact())
    fail(Blame::kArm,
         "wrote beside y (or x), within the cache line at its end or before its start.");
}

RegionReply run_region(const PreparedArm& prepared, const RegionRequest& request,
                       std::span<const std::byte> inputs, std::span<std::byte> outputs) {
  if (is_staged(prepared, request))
    return timed([&] { run_staged(prepared); }, [] {});  // collect_region() fetches the outputs
  const Addresses at{request, inputs, outputs};
  return timed([&] { run_dispatches(prepared, at, 0, request.dispatches); },
               [&] { at.keep(request.dispatches - 1); });
}

}  // namespace tare::arms
