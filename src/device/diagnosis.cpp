#include "device/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace tare::device {
namespace {

constexpr std::uint64_t kRingCaches = 4;  // TRAPS T4
constexpr std::uint64_t kSmallestRing = 256'000'000;

Finding ok(std::string label, std::string value) {
  return {Status::kOk, std::move(label), std::move(value), ""};
}

// The worst status whose threshold is passed.
struct Thresholds {
  double note, warn;
};
Finding graded(std::string label, std::string value, double seen, Thresholds thresholds,
               std::string advice) {
  Finding finding = ok(std::move(label), std::move(value));
  if (seen > thresholds.note) finding.status = Status::kNote;
  if (seen > thresholds.warn) finding.status = Status::kWarn;
  if (finding.status != Status::kOk) finding.advice = std::move(advice);
  return finding;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// ---- processor

Finding isa_finding(const Isa& isa) {
  const std::array<std::pair<bool, std::string_view>, 7> all = {{{isa.avx2, "AVX2"},
                                                                 {isa.avx512, "AVX-512"},
                                                                 {isa.avx512_vnni, "VNNI"},
                                                                 {isa.avx512_bf16, "BF16"},
                                                                 {isa.avx512_fp16, "FP16"},
                                                                 {isa.amx_bf16, "AMX BF16"},
                                                                 {isa.amx_int8, "AMX INT8"}}};
  std::vector<std::string_view> names;
  for (const auto& [present, name] : all) {
    if (present) names.push_back(name);
  }
  Finding finding = ok("instruction sets",
                       names.empty() ? best_of(isa) : fmt::format("{}", fmt::join(names, ", ")));
  if (!isa.avx512_bf16) {
    finding.status = Status::kNote;
    finding.advice =
        "no bf16 instructions: some implementations refuse bf16 here, the others convert; "
        "the table says which";
  }
  return finding;
}

Finding smt_finding(const Machine& machine) {
  if (!machine.smt)
    return ok("SMT", machine.virtual_machine ? "none seen; a virtual machine may hide it" : "off");
  return {Status::kNote, "SMT", "on",
          fmt::format("two threads of a core share its units: {} on {}. Weigh with the threads you "
                      "serve with; one a "
                      "core: taskset --cpu-list with one processor of each core",
                      counted(machine.threads, "thread"), counted(machine.cores, "core"))};
}

Finding cache_finding(const Machine& machine) {
  if (machine.last_level_cache_bytes == 0) {
    return {Status::kWarn, "caches", "unknown",
            "neither /sys nor the processor tells: whether weights are cold cannot be known; mount "
            "/sys"};
  }
  std::string value =
      fmt::format("L1d {}, L2 {}, last level {}", readable_bytes(machine.l1d_bytes),
                  readable_bytes(machine.l2_bytes), readable_bytes(machine.last_level_cache_bytes));
  if (machine.last_level_caches > 1) value += fmt::format(" x {}", machine.last_level_caches);
  return ok("caches", std::move(value));
}

Finding virtual_finding(const Observation& seen) {
  if (!seen.machine.virtual_machine) return ok("virtual machine", "no");
  return {Status::kNote, "virtual machine", seen.hypervisor.empty() ? "yes" : seen.hypervisor,
          "other guests share caches, memory and clock; they show as steal, gaps and wider "
          "intervals only"};
}

Finding governor_finding(const Machine& machine) {
  if (machine.governor.empty()) return ok("clock governor", "not exposed");
  if (machine.governor == "performance") return ok("clock governor", machine.governor);
  return {Status::kNote, "clock governor", machine.governor,
          "the clock follows the load, so first regions are slower: sudo cpupower frequency-set -g "
          "performance"};
}

Section processor_section(const Observation& seen) {
  const Machine& machine = seen.machine;
  return {"processor",
          {ok("model", machine.processor), isa_finding(machine.isa), cache_finding(machine),
           smt_finding(machine), governor_finding(machine), virtual_finding(seen),
           ok("kernel", machine.kernel)}};
}

// ---- memory

Finding ring_finding(const Machine& machine) {
  const std::uint64_t ring = cold_ring_bytes(machine), need = kRingsAtOnce * ring;
  Finding finding =
      ok("cold weights", fmt::format("{}: {} arms with a ring of {}, past the last-level cache",
                                     readable_bytes(need), kRingsAtOnce, readable_bytes(ring)));
  if (static_cast<double>(need) > kMostOfMemory * static_cast<double>(machine.available_bytes)) {
    finding.status = Status::kWarn;
    finding.advice = fmt::format(
        "only {} available: end other programs, offer fewer arms, give a smaller --ring (its gate "
        "says whether "
        "that is still cold), or weigh hot weights only (--residency hot)",
        readable_bytes(machine.available_bytes));
  }
  return finding;
}

Finding huge_page_finding(const Machine& machine) {
  if (machine.huge_pages == "always" || machine.huge_pages == "madvise")
    return ok("huge pages", machine.huge_pages);
  if (machine.huge_pages.empty()) {
    return {Status::kNote, "huge pages", "not exposed", "see below what fresh memory really gets"};
  }
  return {Status::kWarn, "huge pages", machine.huge_pages,
          "on 4 KiB pages equal arms differed by 3-9 %, on huge pages by 0.1 %: "
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding given_finding(const PageTrial& trial) {
  if (trial.bytes == 0) {
    return {Status::kWarn, "fresh memory", "none",
            "not even 64 MiB can be had: end other programs, or raise the memory limit"};
  }
  const double gbps = static_cast<double>(trial.bytes) / trial.seconds / 1e9;
  Finding finding = ok("fresh memory", fmt::format("{:.0f} % on huge pages, touched at {:.2g} GB/s",
                                                   trial.huge_share * 100, gbps));
  if (gbps < 1) {
    finding.status = Status::kNote;
    finding.advice =
        "slow to touch, so rings take long to set up; no region pays for it, and there is nothing "
        "to do";
  }
  if (trial.huge_share < 0.95) {
    finding.status = Status::kWarn;
    finding.advice =
        "memory is fragmented, or huge pages are off: echo 1 | sudo tee "
        "/proc/sys/vm/compact_memory, "
        "or restart the machine";
  }
  return finding;
}

Section memory_section(const Observation& seen) {
  const Machine& machine = seen.machine;
  return {"memory",
          {ok("memory", fmt::format("{}, {} available", readable_bytes(machine.memory_bytes),
                                    readable_bytes(machine.available_bytes))),
           ring_finding(machine), huge_page_finding(machine), given_finding(seen.trial)}};
}

// ---- quiet

std::string percent(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

// Thresholds: TRAPS T35 and STATISTICS' traces; an arm that loses 1 % of its processors moves by
// about as much, which is the equivalence margin, and blocks and intervals bear up to a few times
// that.
Section quiet_section(const Noise& noise) {
  std::string others = "programs you cannot see here";
  if (!noise.busiest.empty()) others = fmt::format("{}", fmt::join(noise.busiest, ", "));
  return {
      "quiet",
      {graded("steal", percent(noise.steal_share), noise.steal_share, {0.005, 0.02},
              "the hypervisor gives your processors to other guests: take a dedicated machine, or "
              "expect wide "
              "intervals"),
       graded("other work", percent(noise.busy_share), noise.busy_share, {0.01, 0.05},
              fmt::format("end it, or wait: {}", others)),
       graded("evenness",
              fmt::format("a fixed spin's 99th percentile is {:.2f} x its median",
                          noise.spin_p99_ratio),
              noise.spin_p99_ratio, {1.05, 1.25},
              "the clock or the load changes under the spin: see the lines above"),
       graded("longest gap", fmt::format("{:.1f} ms", noise.spin_max_gap_us * 1e-3),
              noise.spin_max_gap_us, {1e3, 10e3},
              "somebody had a processor for that long: a region that meets this is an outlier")}};
}

// ---- allowance

Finding mask_finding(const Observation& seen) {
  const std::uint32_t threads = seen.machine.threads;
  Finding finding = ok("processors", fmt::format("{} of {}", threads, seen.processors_online));
  if (threads < seen.processors_online) {
    finding.status = Status::kNote;
    finding.advice =
        "taskset, a cpuset or a batch system keeps Tare to these; weigh with what you serve with";
  }
  if (threads == 1) {
    finding.status = Status::kWarn;
    finding.advice =
        "the harness, the arm and everybody else take turns on one processor: hand-over and "
        "interruptions enter the regions, and nothing is learnt about several threads. Give Tare "
        "two";
  }
  return finding;
}

Finding quota_finding(const Observation& seen) {
  const double quota = seen.limits.processors;
  if (quota == 0) return ok("processor quota", "none");
  const std::string value = counted(static_cast<std::uint64_t>(std::floor(quota)), "processor");
  const std::string exact = fmt::format("{:.3g} processors", quota);
  if (quota >= seen.machine.threads) return ok("processor quota", exact);
  return {Status::kWarn, "processor quota", exact,
          fmt::format("a control group stops all threads whenever the quota is used up: raise it "
                      "(docker --cpus, "
                      "CPUQuota=), or offer only {} (taskset)",
                      quota < 1 ? "what it allows" : value)};
}

Finding memory_limit_finding(const GroupLimits& limits) {
  if (limits.memory_bytes == 0) return ok("memory limit", "none");
  return ok("memory limit", fmt::format("{}, {} used", readable_bytes(limits.memory_bytes),
                                        readable_bytes(limits.memory_used_bytes)));
}

Section allowance_section(const Observation& seen) {
  return {"allowance",
          {mask_finding(seen), quota_finding(seen), memory_limit_finding(seen.limits)}};
}

// ---- environment

Finding variable_finding(const Hobble& hobble) {
  const std::string value = fmt::format("{} ({})", hobble.value, hobble.effect);
  if (!hobble.harmful) return ok(hobble.variable, value);
  return {Status::kWarn, hobble.variable, value, hobble.advice};
}

Section environment_section(const std::vector<Hobble>& hobbles) {
  Section section{"environment", {}};
  for (const Hobble& hobble : hobbles) section.findings.push_back(variable_finding(hobble));
  if (hobbles.empty())
    section.findings.push_back(ok("variables", "none set that is known to hobble a library"));
  return section;
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kNote:
      return "note";
    case Status::kWarn:
      return "warn";
  }
  return "";
}

std::vector<Section> diagnose(const Observation& seen) {
  return {processor_section(seen),           memory_section(seen),
          quiet_section(seen.noise),         allowance_section(seen),
          environment_section(seen.hobbles), diagnose_accelerator(seen.accelerator)};
}

std::uint64_t cold_ring_bytes(const Machine& machine) {
  return std::max(kSmallestRing,
                  kRingCaches * machine.last_level_caches * machine.last_level_cache_bytes);
}

std::string readable_bytes(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return value == std::floor(value) ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                    : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace tare::device
