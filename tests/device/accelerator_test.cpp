// What is asked of the GPU driver's libraries, and the sentences where they are not as they should
// be, over libraries that say what a test wants. Needs no GPU.
#include "device/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace tare::device {
namespace {

using testing::HasSubstr;

const CudaLibraries kFake{TARE_FAKE_CUDA, TARE_FAKE_CUDA};

class AcceleratorTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name :
         {"FAKE_CUDA_VERSION", "FAKE_CUDA_INIT", "FAKE_CUDA_DEVICES", "FAKE_CUDA_MAJOR",
          "FAKE_NVML_INIT", "FAKE_NVML_SLOWED_BY", "FAKE_NVML_BUSY"})
      unsetenv(name);
  }

  static std::string refusal(const CudaLibraries& libraries = kFake) {
    try {
      inspect_cuda(libraries);
    } catch (const Error& error) {
      EXPECT_EQ(error.blame(), Blame::kMachine);
      return error.what();
    }
    return "none";
  }
};

TEST_F(AcceleratorTest, TellsWhatTheDriverSays) {
  const Accelerator found = inspect_cuda(kFake);
  EXPECT_EQ(found.name, "Fake H200");
  EXPECT_EQ(found.architecture, "9.0");
  EXPECT_EQ(found.driver, "580.1.2");
  EXPECT_EQ(found.multiprocessors, 132U);
  EXPECT_EQ(found.l2_bytes, 60ULL << 20);
  EXPECT_EQ(found.memory_bytes, 150ULL << 30);
  EXPECT_EQ(found.available_bytes, 140ULL << 30);
  EXPECT_THAT(summary(found), HasSubstr("Fake H200 (9.0, 132 SMs, L2 60 MiB), driver 580.1.2"));
}

TEST_F(AcceleratorTest, WithoutTheManagementLibraryAllMemoryCountsAsFree) {
  setenv("FAKE_NVML_INIT", "1", 1);
  const Accelerator found = inspect_cuda(kFake);
  EXPECT_EQ(found.available_bytes, found.memory_bytes);
  EXPECT_EQ(found.driver, "");
  EXPECT_FALSE(AcceleratorWatch(kFake).look().has_value());
  EXPECT_FALSE(AcceleratorWatch(kFake).processes().has_value());
}

TEST_F(AcceleratorTest, SaysThatThereIsNoDriver) {
  EXPECT_THAT(
      refusal({"/nowhere/libcuda.so.1", "/nowhere/libnvidia-ml.so.1"}),
      AllOf(HasSubstr("/nowhere/libcuda.so.1 is not on this machine"), HasSubstr("--device cpu")));
}

TEST_F(AcceleratorTest, SaysThatALibraryIsNoDriver) {
  EXPECT_THAT(refusal({"libm.so.6", kFake.management}),
              HasSubstr("libm.so.6 has no cuDriverGetVersion"));
}

TEST_F(AcceleratorTest, SaysThatTheDriverIsOlder) {
  setenv("FAKE_CUDA_VERSION", "12040", 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("too old: it serves CUDA 12.4"), HasSubstr("580")));
}

TEST_F(AcceleratorTest, SaysThatThereIsNoDevice) {
  setenv("FAKE_CUDA_INIT", "100", 1);
  EXPECT_THAT(refusal(), HasSubstr("sees no device"));
  setenv("FAKE_CUDA_INIT", "0", 1);
  setenv("FAKE_CUDA_DEVICES", "0", 1);
  EXPECT_THAT(refusal(), HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(AcceleratorTest, SaysWhatElseTheDriverSays) {
  setenv("FAKE_CUDA_INIT", "999", 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("error 999"), HasSubstr("a fake error")));
}

TEST_F(AcceleratorTest, RefusesAGpuThatIsTooOld) {
  setenv("FAKE_CUDA_MAJOR", "7", 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("compute capability 7.0"), HasSubstr("8.0 or later")));
}

TEST_F(AcceleratorTest, LooksAtClocksAndNamesWhatSlows) {
  setenv("FAKE_NVML_SLOWED_BY", "36", 1);  // power cap and thermal slowdown
  const AcceleratorWatch watch(kFake);
  const auto state = watch.look();
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->sm_mhz, 1980U);
  EXPECT_EQ(state->memory_mhz, 3201U);
  EXPECT_EQ(state->celsius, 37U);
  EXPECT_DOUBLE_EQ(state->watts, 125.5);
  EXPECT_EQ(slowdown_words(state->slowed_by), "power cap, thermal slowdown");
  EXPECT_EQ(slowdown_words(1), "");  // idle is no slowdown
  EXPECT_EQ(watch.processes(), 3U);
}

TEST_F(AcceleratorTest, NamesWhoElseIsThereAndHowBusyTheyAre) {
  setenv("FAKE_NVML_BUSY", "97", 1);
  const AcceleratorWatch watch(kFake);
  ASSERT_EQ(watch.others().size(), 3U);
  EXPECT_EQ(watch.others()[1].name, "/usr/bin/train-101");
  EXPECT_EQ(watch.others()[2].name, "");
  EXPECT_DOUBLE_EQ(watch.look()->others_busy, 0.97);
  EXPECT_DOUBLE_EQ(watch.look()->others_busy, 0.97);  // no newer sample: the last one holds
  unsetenv("FAKE_NVML_BUSY");
  EXPECT_DOUBLE_EQ(AcceleratorWatch(kFake).look()->others_busy, 0);
}

TEST_F(AcceleratorTest, ObservesWithoutThrowing) {
  const AcceleratorObservation here = observe_cuda(kFake);
  EXPECT_TRUE(here.driver);
  ASSERT_TRUE(here.found.has_value());
  EXPECT_EQ(here.found->name, "Fake H200");
  ASSERT_TRUE(here.state.has_value());
  EXPECT_EQ(here.state->highest_sm_mhz, 1980U);
  EXPECT_EQ(here.processes, 3U);
  const AcceleratorObservation none = observe_cuda({"/nowhere/libcuda.so.1", "/nowhere/nvml"});
  EXPECT_FALSE(none.driver);
  EXPECT_FALSE(none.found.has_value());
  EXPECT_THAT(none.refusal, HasSubstr("is not on this machine"));
}

TEST_F(AcceleratorTest, AColdRingIsSixteenCachesLong) {
  Accelerator accelerator;
  accelerator.l2_bytes = 60ULL << 20;
  EXPECT_EQ(cold_ring_bytes(accelerator), 960ULL << 20);
  accelerator.l2_bytes = 0;  // a driver that does not say
  EXPECT_EQ(cold_ring_bytes(accelerator), 256ULL << 20);
}

}  // namespace
}  // namespace tare::device
