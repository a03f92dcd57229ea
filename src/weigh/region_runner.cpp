#include "weigh/region_runner.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "device/machine.h"
#include "prove/compare.h"

namespace tare::weigh {
namespace {

// Idle OpenMP workers spin for a while after their library's last dispatch. Another region may
// start once all threads of all arm hosts sleep; after kMostWait it starts all the same, and the
// gate 'awake' judges. Their processor time would not tell: it moves with the tick.
constexpr std::chrono::microseconds kGlance{50};
constexpr std::chrono::milliseconds kMostWait{60};

double own_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Processor time of everything on the machine, from the operating system's books (steps of 10 ms).
double machine_cpu_seconds() {
  const device::ProcessorTime time = device::processor_time();
  return time.busy + time.steal;
}

bool of_slice(Purpose purpose) {
  return purpose == Purpose::kSliceOne || purpose == Purpose::kSliceMany ||
         purpose == Purpose::kSliceTwice;
}

std::uint64_t slots_used(const Contestant& contestant, const RegionPlan& plan) {
  if (plan.residency == Residency::kHot || of_slice(plan.purpose)) return 1;
  const bool half = plan.purpose == Purpose::kHalfRing;
  return half ? std::max<std::uint64_t>(1, contestant.slots / 2) : contestant.slots;
}

std::uint64_t& cursor_of(Contestant& contestant, Purpose purpose) {
  return purpose == Purpose::kHalfRing ? contestant.half_cursor : contestant.cursor;
}

// Which slots a region reads, the first of them the one longest unread. A hot region reads one, and
// the next region the next: copies of the same weights differ by 0.5 % (standard deviation, Zen 5,
// 2 MB), the means of processes with 24 of them by 0.03 to 0.12 %.
void choose_slots(const Contestant& contestant, const RegionPlan& plan, std::uint64_t cursor,
                  arms::RegionRequest& request) {
  request.slots_used = slots_used(contestant, plan);
  if (of_slice(plan.purpose)) return;
  if (plan.residency == Residency::kHot)
    request.base_slot = cursor % contestant.slots;
  else
    request.first_slot = cursor % request.slots_used;
}

// The slot that the next region starts at.
std::uint64_t slot_after(const arms::RegionRequest& request, const RegionPlan& plan) {
  if (plan.residency == Residency::kHot) return request.base_slot + 1;
  return (request.first_slot + plan.dispatches) % request.slots_used;
}

std::uint32_t executor_of(const Contestant& contestant, Purpose purpose) {
  if (!of_slice(purpose)) return contestant.executor;
  return purpose == Purpose::kSliceTwice ? contestant.slices->twice : contestant.slices->once;
}

bool per_call(const Contestant& contestant, const RegionPlan& plan) {
  return plan.mode == Mode::kPerCall && !is_limit(contestant.role);
}

Outputs compare(prove::ConstElements y, std::uint64_t digest) {
  if (prove::digest(y) == digest) return Outputs::kRight;
  return prove::compare_bits(y, y).non_finite > 0 ? Outputs::kNonFinite : Outputs::kWrong;
}

}  // namespace

Region RegionRunner::run(Contestant& contestant, const RegionPlan& plan) {
  arms::RegionRequest request = stage_.addresses();
  std::uint64_t& cursor = cursor_of(contestant, plan.purpose);
  choose_slots(contestant, plan, cursor, request);
  request.dispatches = plan.dispatches;
  if (contestant.chain_output && !of_slice(plan.purpose))
    request.y_bytes = stage_.kept_output().first(*contestant.chain_output).size_bytes();
  request.per_call = per_call(contestant, plan) ? 1 : 0;
  const std::uint32_t executor = executor_of(contestant, plan.purpose);
  stage_.spoil_outputs();
  wait_for_quiet();

  Region region;
  region.arm = contestant.role;
  region.dispatches = plan.dispatches;
  region.purpose = plan.purpose;
  // The books are read before the opening dispatch: reading them takes long enough for an arm's
  // threads to fall asleep again, and waking them would be paid inside the region (20 to 200 us).
  const double machine_before = machine_cpu_seconds(), own_before = own_cpu_seconds();
  const double others_before = others_cpu_seconds(contestant.host);
  const double host_before = contestant.host->cpu_seconds();
  contestant.host->open_region(executor, request);
  const arms::TimedRegion timed = contestant.host->region(executor, request);
  const double host_cpu = contestant.host->cpu_seconds() - host_before;
  region.others_cpu_seconds = others_cpu_seconds(contestant.host) - others_before;
  const double ours = host_cpu + region.others_cpu_seconds + own_cpu_seconds() - own_before;
  region.elsewhere_cpu_seconds = std::max(0.0, machine_cpu_seconds() - machine_before - ours);

  region.seconds = timed.inside.seconds;
  region.outer_seconds = timed.outer_seconds;
  region.device_seconds = timed.inside.device_seconds;
  region.cpu_seconds = timed.inside.cpu_seconds;
  region.page_faults = timed.inside.page_faults;
  region.new_mappings = timed.inside.new_mappings;
  region.involuntary_switches = timed.inside.involuntary_switches;
  if (of_slice(plan.purpose)) return region;
  region.outputs = check_outputs(contestant, request);
  cursor = slot_after(request, plan);
  return region;
}

void RegionRunner::wait_for_quiet() const {
  const auto deadline = std::chrono::steady_clock::now() + kMostWait;
  const auto awake = [](arms::Host* host) { return host->awake(); };
  while (std::ranges::any_of(hosts_, awake) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(kGlance);
}

double RegionRunner::others_cpu_seconds(const arms::Host* own) const {
  double sum = 0;
  for (const arms::Host* host : hosts_)
    if (host != own) sum += host->cpu_seconds();
  return sum;
}

// The outputs of the last dispatches are still there, and the very last one as it was when the
// clock stopped: they must have the bits that the arm proved for their slots.
Outputs RegionRunner::check_outputs(const Contestant& contestant,
                                    const arms::RegionRequest& request) {
  if (contestant.digests.empty()) return Outputs::kUnchecked;
  if (stage_.take_breach()) return Outputs::kWrong;
  if (contestant.chain_output)
    return compare(stage_.kept_output().first(*contestant.chain_output), contestant.digests[0]);
  const std::uint64_t kept = std::min<std::uint64_t>(request.dispatches, request.outputs);
  for (std::uint64_t i = request.dispatches - kept; i < request.dispatches; ++i) {
    const auto y = i + 1 == request.dispatches
                       ? stage_.kept_output()
                       : stage_.output(static_cast<std::uint32_t>(i % request.outputs));
    const Outputs found = compare(y, contestant.digests[request.slot(i)]);
    if (found != Outputs::kRight) return found;
  }
  return Outputs::kRight;
}

}  // namespace tare::weigh
