#include "device/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tare::device {
namespace {

// A machine on which nothing is wrong: each test breaks one thing.
Observation healthy() {
  Observation seen;
  seen.machine.processor = "AMD EPYC 9R14 (Zen 4)";
  seen.machine.threads = seen.machine.cores = seen.processors_online = 8;
  seen.machine.isa = {.avx2 = true, .avx512 = true, .avx512_vnni = true, .avx512_bf16 = true};
  seen.machine.l1d_bytes = 32 << 10;
  seen.machine.l2_bytes = 1 << 20;
  seen.machine.last_level_cache_bytes = 32 << 20;
  seen.machine.memory_bytes = 64ull << 30;
  seen.machine.available_bytes = 60ull << 30;
  seen.machine.huge_pages = "madvise";
  seen.machine.governor = "performance";
  seen.machine.kernel = "6.1.0";
  seen.trial = {.bytes = 64 << 20, .seconds = 0.02, .huge_share = 1};
  seen.noise = {.seconds = 2,
                .steal_share = 0,
                .busy_share = 0.001,
                .spin_p99_ratio = 1.01,
                .spin_max_gap_us = 90,
                .busiest = {}};
  return seen;
}

Finding find(const Observation& seen, const std::string& label) {
  for (const Section& section : diagnose(seen)) {
    for (const Finding& finding : section.findings) {
      if (finding.label == label) return finding;
    }
  }
  ADD_FAILURE() << "no finding is called " << label;
  return {};
}

void expect(const Observation& seen, const std::string& label, Status status,
            const std::string& in_advice) {
  const Finding finding = find(seen, label);
  EXPECT_EQ(finding.status, status) << label << ": " << finding.value;
  EXPECT_NE(finding.advice.find(in_advice), std::string::npos) << label << ": " << finding.advice;
}

TEST(Diagnosis, AHealthyMachineHasNothingToDo) {
  const std::vector<Section> sections = diagnose(healthy());
  ASSERT_EQ(sections.size(), 6u);
  const char* titles[] = {"processor", "memory", "quiet", "allowance", "environment"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(sections[i].title, titles[i]);
    EXPECT_FALSE(sections[i].findings.empty());
    for (const Finding& finding : sections[i].findings) {
      EXPECT_EQ(finding.status, Status::kOk)
          << finding.label << ": " << finding.value << ", " << finding.advice;
      EXPECT_EQ(finding.advice, "") << finding.label;
    }
  }
}

TEST(Diagnosis, EverythingThatIsNotOkSaysWhatToDo) {
  Observation seen;  // nothing known, nothing there
  seen.machine.smt = true;
  seen.machine.threads = 1;
  seen.limits.processors = 0.5;
  seen.machine.huge_pages = "never";
  seen.noise = {.seconds = 2,
                .steal_share = 1,
                .busy_share = 1,
                .spin_p99_ratio = 9,
                .spin_max_gap_us = 1e6,
                .busiest = {}};
  for (const Section& section : diagnose(seen)) {
    for (const Finding& finding : section.findings)
      EXPECT_EQ(finding.advice.empty(), finding.status == Status::kOk) << finding.label;
  }
}

TEST(Diagnosis, Processor) {
  Observation seen = healthy();
  seen.machine.isa = {.avx2 = true};
  expect(seen, "instruction sets", Status::kNote, "bf16");
  seen.machine.smt = true;
  expect(seen, "SMT", Status::kNote, "taskset");
  seen.machine.governor = "powersave";
  expect(seen, "clock governor", Status::kNote, "performance");
  seen.machine.virtual_machine = true;
  seen.hypervisor = "KVM";
  expect(seen, "virtual machine", Status::kNote, "guests");
  seen.machine.last_level_cache_bytes = 0;
  expect(seen, "caches", Status::kWarn, "/sys");
}

TEST(Diagnosis, ARingIsFourTimesAllCaches) {
  Observation seen = healthy();
  EXPECT_EQ(cold_ring_bytes(seen.machine), 256'000'000u) << "128 MiB are below the smallest ring";
  seen.machine.last_level_caches = 3;
  EXPECT_EQ(cold_ring_bytes(seen.machine), 12ull * (32 << 20));
}

TEST(Diagnosis, ColdWeightsNeedMemoryForAllArms) {
  Observation seen = healthy();
  seen.machine.available_bytes = 8ull * 256'000'000 * 5 / 4;
  EXPECT_EQ(find(seen, "cold weights").status, Status::kOk);
  seen.machine.available_bytes -= 1000;
  expect(seen, "cold weights", Status::kWarn, "--residency hot");
}

TEST(Diagnosis, Pages) {
  Observation seen = healthy();
  seen.machine.huge_pages = "never";
  expect(seen, "huge pages", Status::kWarn, "echo madvise");
  seen.trial.huge_share = 0.4;
  expect(seen, "fresh memory", Status::kWarn, "compact_memory");
  seen.trial = {};
  expect(seen, "fresh memory", Status::kWarn, "64 MiB");
  seen = healthy();
  seen.trial.seconds = 0.2;
  expect(seen, "fresh memory", Status::kNote, "slow");
}

TEST(Diagnosis, NoiseIsGraded) {
  Observation seen = healthy();
  seen.noise.steal_share = 0.01;
  expect(seen, "steal", Status::kNote, "hypervisor");
  seen.noise.steal_share = 0.05;
  expect(seen, "steal", Status::kWarn, "hypervisor");
  seen.noise.busy_share = 0.2;
  seen.noise.busiest = {"cc1plus (pid 123) 98 %"};
  expect(seen, "other work", Status::kWarn, "cc1plus (pid 123) 98 %");
  seen.noise.spin_p99_ratio = 1.1;
  expect(seen, "evenness", Status::kNote, "spin");
  seen.noise.spin_max_gap_us = 20e3;
  expect(seen, "longest gap", Status::kWarn, "outlier");
}

TEST(Diagnosis, OneProcessorIsAWarningWithItsMeaning) {
  Observation seen = healthy();
  seen.machine.threads = 2;
  expect(seen, "processors", Status::kNote, "taskset");
  seen.machine.threads = 1;
  expect(seen, "processors", Status::kWarn, "take turns");
  seen.processors_online = 1;
  expect(seen, "processors", Status::kWarn, "take turns");
}

TEST(Diagnosis, AQuotaBelowTheThreadsStopsThem) {
  Observation seen = healthy();
  seen.limits.processors = 8;
  EXPECT_EQ(find(seen, "processor quota").status, Status::kOk);
  seen.limits.processors = 1.5;
  expect(seen, "processor quota", Status::kWarn, "1 processor");
}

TEST(Diagnosis, HarmfulVariablesWarn) {
  Observation seen = healthy();
  seen.hobbles = {
      {.variable = "OMP_NUM_THREADS",
       .value = "1",
       .effect = "e",
       .advice = "unset it",
       .harmful = true},
      {.variable = "MLX_X", .value = "1", .effect = "e", .advice = "", .harmful = false}};
  expect(seen, "OMP_NUM_THREADS", Status::kWarn, "unset it");
  EXPECT_EQ(find(seen, "MLX_X").status, Status::kOk);
}

TEST(Diagnosis, ReadableBytes) {
  EXPECT_EQ(readable_bytes(0), "0 B");
  EXPECT_EQ(readable_bytes(48 << 10), "48 KiB");
  EXPECT_EQ(readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(readable_bytes(260ull << 20), "260 MiB");
  EXPECT_EQ(readable_bytes(24684084ull << 10), "23.5 GiB");
}

}  // namespace
}  // namespace tare::device
