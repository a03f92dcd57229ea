// What is seen of a GPU, for somebody who wants to weigh kernels on it.
#include <fmt/format.h>

#include "device/diagnosis.h"

namespace tare::device {
namespace {

Finding ok(std::string label, std::string value) {
  return {Status::kOk, std::move(label), std::move(value), ""};
}

Finding absent_finding(const AcceleratorObservation& seen) {
  if (!seen.driver) return ok("GPU", "none: no NVIDIA driver is on this machine");
  return {Status::kNote, "GPU", "cannot be weighed on", seen.refusal};
}

Finding driver_finding(const Accelerator& gpu) {
  if (!gpu.driver.empty()) return ok("driver", gpu.driver);
  return {Status::kNote, "driver", "its version is not told",
          "the management library (libnvidia-ml.so.1) is missing: clocks, throttling and memory in "
          "use stay unknown, and rows cannot be told from throttled ones"};
}

Finding clock_finding(const AcceleratorState& state) {
  std::string clock = fmt::format("SM {} MHz", state.sm_mhz);
  if (state.highest_sm_mhz > 0) clock += fmt::format(" of {}", state.highest_sm_mhz);
  return ok("GPU clocks", fmt::format("{}, memory {} MHz, {} °C, {:.0f} W", clock, state.memory_mhz,
                                      state.celsius, state.watts));
}

Finding slowdown_finding(const AcceleratorState& state) {
  const std::string words = slowdown_words(state.slowed_by);
  if (words.empty()) return ok("GPU slowed by", "nothing");
  return {Status::kWarn, "GPU slowed by", words,
          "clocks are held down now: times and limits change while it lasts, and ratios are drawn "
          "from blocks in which it changes. Let it cool, or end what else loads it (nvidia-smi -q "
          "-d PERFORMANCE)"};
}

Finding memory_finding(const Accelerator& gpu) {
  const std::uint64_t ring = cold_ring_bytes(gpu), need = kRingsAtOnce * ring;
  Finding finding =
      ok("GPU memory",
         fmt::format("{}, {} free; cold weights take {}: {} arms with a ring of {}",
                     readable_bytes(gpu.memory_bytes), readable_bytes(gpu.available_bytes),
                     readable_bytes(need), kRingsAtOnce, readable_bytes(ring)));
  if (static_cast<double>(need) <= kMostOfMemory * static_cast<double>(gpu.available_bytes))
    return finding;
  finding.status = Status::kWarn;
  finding.advice =
      "too little for cold weights: end what else uses the GPU (nvidia-smi), or give a smaller "
      "--ring (its gate says whether that is still cold)";
  return finding;
}

Finding processes_finding(std::uint32_t processes) {
  if (processes == 0) return ok("GPU in use by", "nobody");
  return {Status::kWarn, "GPU in use by",
          fmt::format("{} process{}", processes, processes == 1 ? "" : "es"),
          "their kernels run between ours, and a switch between processes costs 0.15 ms: end them "
          "(nvidia-smi names them)"};
}

}  // namespace

Section diagnose_accelerator(const AcceleratorObservation& seen) {
  if (!seen.found) return {"GPU", {absent_finding(seen)}};
  const Accelerator& gpu = *seen.found;
  Section section{"GPU",
                  {ok("GPU", fmt::format("{}, compute capability {}, {} multiprocessors", gpu.name,
                                         gpu.architecture, gpu.multiprocessors)),
                   driver_finding(gpu),
                   ok("GPU L2", fmt::format("{}: a cold ring is {}", readable_bytes(gpu.l2_bytes),
                                            readable_bytes(cold_ring_bytes(gpu)))),
                   memory_finding(gpu)}};
  if (seen.state) {
    section.findings.push_back(clock_finding(*seen.state));
    section.findings.push_back(slowdown_finding(*seen.state));
  }
  if (seen.processes) section.findings.push_back(processes_finding(*seen.processes));
  return section;
}

}  // namespace tare::device
