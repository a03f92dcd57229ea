// What doctor says of a GPU: one that is well, and one thing after the other that is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/diagnosis.h"

namespace tare::device {
namespace {

using testing::HasSubstr;

AcceleratorObservation healthy() {
  Accelerator gpu;
  gpu.name = "Test GPU";
  gpu.architecture = "9.0";
  gpu.driver = "580.1";
  gpu.multiprocessors = 132;
  gpu.l2_bytes = 60ULL << 20;
  gpu.memory_bytes = 140ULL << 30;
  gpu.available_bytes = 139ULL << 30;
  AcceleratorState state;
  state.sm_mhz = 345;
  state.highest_sm_mhz = 1980;
  state.memory_mhz = 3201;
  state.celsius = 31;
  state.watts = 76;
  return {true, gpu, "", state, 0U};
}

Finding find(const AcceleratorObservation& seen, const std::string& label) {
  const Section section = diagnose_accelerator(seen);
  const auto found = std::ranges::find(section.findings, label, &Finding::label);
  if (found != section.findings.end()) return *found;
  ADD_FAILURE() << "no finding is called " << label;
  return {};
}

TEST(AcceleratorDiagnosis, AHealthyGpuHasNoAdvice) {
  const Section section = diagnose_accelerator(healthy());
  EXPECT_EQ(section.title, "GPU");
  for (const Finding& finding : section.findings)
    EXPECT_EQ(finding.status, Status::kOk) << finding.label << ": " << finding.value;
  EXPECT_EQ(find(healthy(), "GPU").value, "Test GPU, compute capability 9.0, 132 multiprocessors");
  EXPECT_EQ(find(healthy(), "GPU L2").value, "60 MiB: a cold ring is 960 MiB");
  EXPECT_EQ(find(healthy(), "GPU clocks").value,
            "SM 345 MHz of 1980, memory 3201 MHz, 31 °C, 76 W");
}

TEST(AcceleratorDiagnosis, NoDriverIsNoFault) {
  const AcceleratorObservation seen{false, {}, "libcuda.so.1 is not on this machine", {}, {}};
  ASSERT_EQ(diagnose_accelerator(seen).findings.size(), 1U);
  EXPECT_EQ(find(seen, "GPU").status, Status::kOk);
}

TEST(AcceleratorDiagnosis, ADriverWithoutAUsableGpuIsTold) {
  const AcceleratorObservation seen{true, {}, "The NVIDIA driver is too old", {}, {}};
  EXPECT_EQ(find(seen, "GPU").status, Status::kNote);
  EXPECT_EQ(find(seen, "GPU").advice, "The NVIDIA driver is too old");
}

TEST(AcceleratorDiagnosis, WarnsWhenClocksAreHeldDown) {
  AcceleratorObservation seen = healthy();
  seen.state->slowed_by = 0x4 | 0x40;
  EXPECT_EQ(find(seen, "GPU slowed by").status, Status::kWarn);
  EXPECT_EQ(find(seen, "GPU slowed by").value, "power cap, hardware thermal slowdown");
  seen.state->slowed_by = 0x1;  // idle
  EXPECT_EQ(find(seen, "GPU slowed by").status, Status::kOk);
}

TEST(AcceleratorDiagnosis, WarnsWhenRingsDoNotFit) {
  AcceleratorObservation seen = healthy();
  // 8 rings of 960 MiB are 7.5 GiB, which must be at most 80 % of what is free: 9.375 GiB.
  seen.found->available_bytes = (9ULL << 30) + (384ULL << 20);
  EXPECT_EQ(find(seen, "GPU memory").status, Status::kOk);
  seen.found->available_bytes -= 1ULL << 20;
  EXPECT_EQ(find(seen, "GPU memory").status, Status::kWarn);
  EXPECT_THAT(find(seen, "GPU memory").advice, HasSubstr("--ring"));
}

TEST(AcceleratorDiagnosis, WarnsOfOtherProcesses) {
  AcceleratorObservation seen = healthy();
  seen.processes = 1;
  EXPECT_EQ(find(seen, "GPU in use by").status, Status::kWarn);
  EXPECT_EQ(find(seen, "GPU in use by").value, "1 process");
}

TEST(AcceleratorDiagnosis, WithoutTheManagementLibraryLittleIsKnown) {
  AcceleratorObservation seen = healthy();
  seen.found->driver.clear();
  seen.state.reset();
  seen.processes.reset();
  EXPECT_EQ(find(seen, "driver").status, Status::kNote);
  EXPECT_EQ(diagnose_accelerator(seen).findings.size(), 4U);
}

}  // namespace
}  // namespace tare::device
