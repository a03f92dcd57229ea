#include "arms/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "arms/region.h"
#include "base/error.h"
#include "prove/compare.h"

namespace tare::arms {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeed = 7;
constexpr tare_problem kProblem{33, 17, 2, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
constexpr std::uint32_t kSlots = 5;
constexpr std::chrono::milliseconds kPatient{30'000}, kImpatient{2'000};

// Shared buffers with one input and one output for kProblem, and hosts that use them.
class HostTest : public testing::Test {
 protected:
  HostTest()
      : inputs_(SharedMemory::create("inputs", 4096)),
        outputs_(SharedMemory::create("outputs", 4096)) {
    prove::generate_activations(kSeed, 0, 0, x());
    inputs_.forbid_new_writers();
  }

  std::unique_ptr<Host> start(const std::string& module_path) {
    HostOptions options;
    options.executable = std::filesystem::read_symlink("/proc/self/exe");
    options.module_path = module_path;
    options.threads = 1;
    options.inputs = &inputs_;
    options.outputs = &outputs_;
    options.patience = patience_;
    options.environment = settings_;
    return std::make_unique<Host>(options);
  }
  std::unique_ptr<Host> start_liar(const std::string& name) {
    return start(std::string(TARE_PLUGIN_DIR) + "/" + name + ".so");
  }

  std::uint32_t prepare(Host& host) const {
    host.begin_prepare(0, kProblem, kSlots, {.seed = kSeed}, false);
    return host.end_prepare(patience_).executor;
  }

  std::uint32_t prepare_guarded(Host& host) const {
    host.begin_prepare(0, kProblem, kSlots, {.seed = kSeed, .guarded = 1}, false);
    return host.end_prepare(patience_).executor;
  }

  void run_guarded(Host& host, std::uint32_t executor, std::uint64_t slot) {
    RegionRequest request;
    request.first_slot = slot;
    request.slots_used = kSlots;
    request.guarded = 1;
    request.y_bytes = y().size_bytes();
    host.region(executor, request);
  }

  static TimedRegion run(Host& host, std::uint32_t executor, std::uint64_t slot = 0) {
    RegionRequest request;
    request.first_slot = slot;
    request.slots_used = kSlots;
    return host.region(executor, request);
  }

  // The sentence that the whole life of an arm ends in.
  std::string failure_of(const std::string& liar) {
    try {
      auto host = start_liar(liar);
      const std::uint32_t executor = prepare(*host);
      for (int i = 0; i < 3; ++i) run(*host, executor);
      host->destroy(executor);
    } catch (const Error& error) {
      EXPECT_EQ(error.blame(), Blame::kArm);
      return error.what();
    }
    return "nothing failed";
  }

  std::span<prove::Bf16> x() {
    return {static_cast<prove::Bf16*>(inputs_.data()), kProblem.rows * kProblem.k};
  }
  std::span<prove::Bf16> y() {
    return {static_cast<prove::Bf16*>(outputs_.data()), kProblem.rows * kProblem.n};
  }

  // Long, because tests run side by side; short where a hang is waited for.
  std::chrono::milliseconds patience_ = kPatient;
  Settings settings_;
  SharedMemory inputs_, outputs_;
};

TEST_F(HostTest, ComputesWhatTheOracleSays) {
  auto host = start(TARE_EXAMPLE_PLUGIN);
  const std::uint32_t executor = prepare(*host);
  const auto elements = prove::draw_elements(kProblem.rows, kProblem.n, 1000, 1);
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    prove::poison(y(), 0);
    run(*host, executor, slot);
    const auto truth =
        prove::oracle(x(), {TARE_BF16, kProblem.k, kProblem.n, kSeed, slot}, elements);
    const auto error = prove::oracle_error(y(), kProblem.n, elements, truth);
    EXPECT_EQ(error.non_finite, 0u);
    EXPECT_LT(error.max_ulp, 0.51);  // f32 sums of 33 terms, rounded once
  }
}

TEST_F(HostTest, ComputesTheSameBetweenGuardPages) {
  auto host = start(TARE_EXAMPLE_PLUGIN);
  run(*host, prepare(*host), 2);
  const std::vector<prove::Bf16> free(y().begin(), y().end());
  prove::poison(y(), 0);
  run_guarded(*host, prepare_guarded(*host), 2);
  EXPECT_TRUE(std::equal(free.begin(), free.end(), y().begin()));
}

TEST_F(HostTest, GuardPagesSeeAReadPastTheEnd) {
  auto host = start_liar("reads_past_end");
  run(*host, prepare(*host));  // without them nothing is amiss
  const std::uint32_t executor = prepare_guarded(*host);
  try {
    run_guarded(*host, executor, 0);
    FAIL() << "nothing was seen";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("crashed with signal 11"));
    EXPECT_THAT(error.what(), HasSubstr("in enqueue"));
  }
}

TEST_F(HostTest, GuardPagesSeeAWriteRightBehindY) {
  auto host = start_liar("writes_past_end");
  EXPECT_THROW(run_guarded(*host, prepare_guarded(*host), 0), Error);
}

TEST_F(HostTest, GeneratesTheDataThatAProofAsksFor) {
  auto host = start(TARE_EXAMPLE_PLUGIN);
  host->begin_prepare(0, kProblem, kSlots, {.seed = kSeed, .data = prove::Data::kOnes}, false);
  run(*host, host->end_prepare(patience_).executor);
  double exact = 0;
  for (const prove::Bf16 value : x().first(kProblem.k)) exact += prove::to_float(value);
  EXPECT_NEAR(prove::to_float(y()[0]), exact, std::abs(exact) * 0x1p-8);
}

TEST_F(HostTest, HandsTheHostWhatIsSetForIt) {
  settings_ = {{"TARE_CPU_ISA", "no such"}};
  auto host = start(TARE_CPU_MODULE);
  ASSERT_FALSE(host->arms().empty());
  EXPECT_THAT(host->arms()[0].refusal, HasSubstr("TARE_CPU_ISA is 'no such'"));
}

TEST_F(HostTest, TellsWhoIsThere) {
  auto host = start(TARE_EXAMPLE_PLUGIN);
  ASSERT_EQ(host->arms().size(), 1u);
  EXPECT_EQ(host->arms()[0].refusal, "");
  const std::uint32_t executor = prepare(*host);
  run(*host, executor);
  EXPECT_STRNE(host->describe(executor).record.kernel, "");
}

TEST_F(HostTest, SaysWhyAProblemIsRefused) {
  auto host = start_liar("refuses");
  EXPECT_TRUE(host->refusal(0, kProblem).has_value());
  auto honest = start_liar("honest");
  EXPECT_FALSE(honest->refusal(0, kProblem).has_value());
}

TEST_F(HostTest, SetsRowsOverTheSameWeights) {
  auto host = start(TARE_EXAMPLE_PLUGIN);
  const std::uint32_t executor = prepare(*host);
  run(*host, executor, 3);
  const std::vector<prove::Bf16> two_rows(y().begin(), y().end());
  if (!host->set_rows(executor, 1)) GTEST_SKIP() << "the example prepares anew";
  prove::poison(y(), 0);
  run(*host, executor, 3);
  EXPECT_TRUE(std::equal(two_rows.begin(), two_rows.begin() + kProblem.n, y().begin()));
}

TEST_F(HostTest, NamesTheCallAnArmCrashedIn) {
  EXPECT_THAT(failure_of("crash_at_load"), HasSubstr("while being loaded"));
  EXPECT_THAT(failure_of("crash_in_open"), HasSubstr("in open()"));
  EXPECT_THAT(failure_of("crash_in_prepare"), HasSubstr("in prepare()"));
  EXPECT_THAT(failure_of("crash_in_bind"), HasSubstr("in bind()"));
  EXPECT_THAT(failure_of("crash_in_enqueue"), HasSubstr("in enqueue()"));
  EXPECT_THAT(failure_of("crash_in_fence"), HasSubstr("in fence()"));
  EXPECT_THAT(failure_of("crash_in_destroy"), HasSubstr("in destroy()"));
  EXPECT_THAT(failure_of("writes_x"), HasSubstr("crashed"));
}

TEST_F(HostTest, NamesTheCallAnArmHangsIn) {
  patience_ = kImpatient;
  EXPECT_THAT(failure_of("hang_in_prepare"), AllOf(HasSubstr("hangs"), HasSubstr("in prepare()")));
  EXPECT_THAT(failure_of("hang_in_enqueue"), AllOf(HasSubstr("hangs"), HasSubstr("in enqueue()")));
  EXPECT_THAT(failure_of("spin_in_enqueue"), HasSubstr("hangs"));
}

TEST_F(HostTest, SeesAnArmThatEndsItsProcess) {
  EXPECT_THAT(failure_of("exit_in_enqueue"), HasSubstr("exit code 0 in enqueue()"));
}

TEST_F(HostTest, SaysWhatIsWrongWithAModule) {
  EXPECT_THAT(failure_of("no_symbol"), HasSubstr("tare_arm_v1"));
  EXPECT_THAT(failure_of("other_abi"), HasSubstr("ABI"));
  EXPECT_THAT(failure_of("null_functions"), HasSubstr("enqueue"));
  EXPECT_THAT(failure_of("no_arms"), HasSubstr("no arm"));
  EXPECT_THAT(failure_of("endless_arms"), HasSubstr("NULL"));
  EXPECT_THAT(failure_of("null_name"), HasSubstr("no name"));
  EXPECT_THAT(failure_of("device_without_collect"), HasSubstr("TARE_ON_DEVICE"));
  EXPECT_THAT(failure_of("is_not_there"), HasSubstr("no such file"));
}

TEST_F(HostTest, SaysThatADispatchFailed) {
  EXPECT_THAT(failure_of("fails_in_enqueue"), HasSubstr("enqueue() failed"));
  EXPECT_THAT(failure_of("fails_in_fence"), HasSubstr("fence() failed"));
  EXPECT_THAT(failure_of("silent_failure"), HasSubstr("no reason"));
  EXPECT_THAT(failure_of("null_executor"), HasSubstr("no executor"));
}

TEST_F(HostTest, SeesAChangedFloatingPointMode) {
#if defined(__x86_64__)
  EXPECT_THAT(failure_of("leaves_denormals_off"), HasSubstr("floating-point mode"));
  EXPECT_THAT(failure_of("leaves_rounding_changed"), HasSubstr("floating-point mode"));
#endif
}

TEST_F(HostTest, AChangedFloatingPointModeIsAFailureOfItsOwn) {
#if defined(__x86_64__)
  auto host = start_liar("leaves_rounding_changed");
  const std::uint32_t executor = prepare(*host);
  EXPECT_THROW(run(*host, executor), ControlWordChanged);
#endif
}

TEST_F(HostTest, RestartsAfterACrash) {
  auto host = start_liar("crash_in_enqueue");
  const std::uint32_t executor = prepare(*host);
  EXPECT_THROW(run(*host, executor), Error);
  EXPECT_FALSE(host->alive());
  EXPECT_THROW(run(*host, executor), Error);
  const std::uint32_t life = host->life();
  host->restart();
  EXPECT_TRUE(host->alive());
  EXPECT_NE(host->life(), life);
  EXPECT_NO_THROW(prepare(*host));
}

TEST_F(HostTest, KeepsWhatAModulePrintsAway) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(failure_of("garbage_output"), "nothing failed");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(HostTest, CountsThePageFaultsOfARegion) {
  auto honest = start_liar("honest");
  const std::uint32_t calm = prepare(*honest);
  run(*honest, calm);
  EXPECT_EQ(run(*honest, calm).inside.page_faults, 0u);
  auto allocates = start_liar("allocates_per_call");
  const std::uint32_t busy = prepare(*allocates);
  run(*allocates, busy);
  EXPECT_GT(run(*allocates, busy).inside.page_faults, 0u);
}

// The areas that a device copies, all of both buffers.
RegionRequest of_device(std::uint64_t slot) {
  RegionRequest request;
  request.first_slot = slot;
  request.slots_used = kSlots;
  request.input_bytes = request.output_bytes = 4096;
  return request;
}

TEST_F(HostTest, StagesLaunchesAndCollectsARegionOfADevice) {
  auto honest = start_liar("honest");
  run(*honest, prepare(*honest), 2);
  const std::vector<prove::Bf16> right(y().begin(), y().end());
  auto device = start_liar("device_arm");
  const std::uint32_t executor = prepare(*device);
  prove::poison(y(), 0);
  const TimedRegion timed = device->region(executor, of_device(2));
  EXPECT_TRUE(std::equal(right.begin(), right.end(), y().begin()));
  EXPECT_EQ(timed.inside.device_seconds, 1e-9);
  EXPECT_GE(timed.outer_seconds, timed.inside.seconds);
}

TEST_F(HostTest, ADeviceSeesTheInputsOfTheMomentItIsStaged) {
  auto device = start_liar("device_arm");
  const std::uint32_t executor = prepare(*device);
  device->open_region(executor, of_device(1));
  device->region(executor, of_device(1));
  const std::vector<prove::Bf16> before(y().begin(), y().end());
  prove::generate_activations(kSeed + 1, 0, 0, x());
  device->region(executor, of_device(1));
  EXPECT_FALSE(std::equal(before.begin(), before.end(), y().begin()));
  const auto elements = prove::draw_elements(kProblem.rows, kProblem.n, 1000, 1);
  const auto truth = prove::oracle(x(), {TARE_BF16, kProblem.k, kProblem.n, kSeed, 1}, elements);
  EXPECT_LT(prove::oracle_error(y(), kProblem.n, elements, truth).max_ulp, 0.51);
}

TEST_F(HostTest, SaysWhyARegionCannotBeStaged) {
  auto device = start_liar("device_arm");
  const std::uint32_t executor = prepare(*device);
  RegionRequest request = of_device(0);
  request.dispatches = 65;
  try {
    device->region(executor, request);
    FAIL() << "it was staged";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("stage() failed: this device holds 64 dispatches"));
  }
}

TEST_F(HostTest, SaysWhyARegionOfADeviceFailedAndStartsAnew) {
  auto device = start_liar("device_that_faults");
  const std::uint32_t executor = prepare(*device);
  try {
    device->region(executor, of_device(1));
    FAIL() << "it did not fail";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("fence() failed with code 7: an illegal address was seen"));
  }
  EXPECT_FALSE(device->alive());
  device->restart();
  EXPECT_NO_THROW(prepare(*device));
}

TEST_F(HostTest, RunsPerCallOnADevice) {
  auto device = start_liar("device_arm");
  device->begin_prepare(0, kProblem, kSlots, {.seed = kSeed}, true);
  const std::uint32_t executor = device->end_prepare(kPatient).executor;
  RegionRequest request = of_device(2);
  device->region(executor, request);
  const std::vector<prove::Bf16> staged(y().begin(), y().end());
  prove::poison(y(), 0);
  request.per_call = 1;
  EXPECT_EQ(device->region(executor, request).inside.device_seconds, 0);
  EXPECT_TRUE(std::equal(staged.begin(), staged.end(), y().begin()));
}

TEST_F(HostTest, RunsPerCall) {
  auto host = start(TARE_EXAMPLE_PLUGIN);
  host->begin_prepare(0, kProblem, kSlots, {.seed = kSeed}, true);
  const std::uint32_t executor = host->end_prepare(kPatient).executor;
  run(*host, executor, 2);
  const std::vector<prove::Bf16> prepared(y().begin(), y().end());
  prove::poison(y(), 0);
  RegionRequest request;
  request.first_slot = 2;
  request.slots_used = kSlots;
  request.per_call = 1;
  host->region(executor, request);
  EXPECT_TRUE(std::equal(prepared.begin(), prepared.end(), y().begin()));
}

TEST_F(HostTest, KeepsTheLastOutputOfARegion) {
  constexpr std::uint64_t kKept = 2048;
  auto host = start(TARE_EXAMPLE_PLUGIN);
  const std::uint32_t executor = prepare(*host);
  RegionRequest request;
  request.slots_used = kSlots;
  request.dispatches = 3;
  request.y_bytes = y().size_bytes();
  request.kept_offset = kKept;
  host->region(executor, request);
  const auto* kept = static_cast<const std::byte*>(outputs_.data()) + kKept;
  EXPECT_EQ(std::memcmp(kept, y().data(), y().size_bytes()), 0);
  run(*host, executor, 2);  // the slot of the third dispatch
  EXPECT_EQ(std::memcmp(kept, y().data(), y().size_bytes()), 0);
}

}  // namespace
}  // namespace tare::arms
