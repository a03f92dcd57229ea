// That the lying modules lie as they say, and that proving names those that it is there to name.
// The others are the arm host's and the gates' to name; the command line's tests run them all.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "prove/compare.h"
#include "prove/guard.h"
#include "prove/proof.h"
#include "tests/plugins/driven_arm.h"

namespace tare::testing_plugins {
namespace {

using prove::Bf16;
using prove::ProofResult;

constexpr std::uint64_t kSeed = 5;
constexpr std::uint32_t kSlots = 3;

std::string module(const std::string& name) {
  return std::string(TARE_PLUGIN_DIR) + "/" + name + ".so";
}

// An arm in this process whose output lies between guards.
class GuardedArm {
 public:
  GuardedArm(const std::string& name, const tare_problem& problem)
      : layout_({problem.rows * problem.n * sizeof(Bf16)}),
        memory_(static_cast<std::byte*>(allocate_zeroed(layout_.total_bytes()))),
        arm_(module(name), problem, kSlots, kSeed),
        x_(problem.rows * problem.k) {
    prove::generate_activations(kSeed, 0, 0, x_);
    layout_.write_guards(area());
  }
  ~GuardedArm() { std::free(memory_); }
  GuardedArm(const GuardedArm&) = delete;
  GuardedArm& operator=(const GuardedArm&) = delete;

  std::span<const Bf16> x() const { return x_; }

  prove::ProvenArm proven() {
    return {[this](std::uint64_t slot, int which, prove::Elements into) {
              const prove::Elements y(TARE_BF16, layout_.output(area(), 0).data(), into.size());
              prove::poison(y, which);
              arm_.run(slot, x_, y.as_bf16());
              prove::copy(y, into);
            },
            [this] { return layout_.check_guards(area()).has_value(); }};
  }

 private:
  std::span<std::byte> area() { return {memory_, layout_.total_bytes()}; }

  prove::GuardedArea layout_;
  std::byte* memory_;
  DrivenArm arm_;
  std::vector<Bf16> x_;
};

ProofResult prove_liar(const std::string& name) {
  const tare_problem problem = bf16_problem(64, 40, 2);
  GuardedArm honest("honest", problem);
  GuardedArm liar(name, problem);
  prove::ProofPlan plan;
  plan.problem = problem;
  plan.slots = kSlots;
  plan.weight_seed = kSeed;
  plan.x = [&honest](std::uint64_t) { return honest.x(); };
  return prove::prove(plan, honest.proven(), liar.proven());
}

constexpr std::uint64_t kElements = 2 * 40;

TEST(Lies, TheHonestOnePasses) {
  const ProofResult result = prove_liar("honest");
  EXPECT_EQ(result.proof.differing, 0U);
  EXPECT_EQ(result.proof.unwritten, 0U);
  EXPECT_FALSE(result.proof.wrote_outside);
  EXPECT_LT(result.proof.candidate_error_max, 0.51);
}

TEST(Lies, OneWrongElement) {
  const ProofResult result = prove_liar("wrong_one_element");
  EXPECT_EQ(result.proof.differing, 1U);
  EXPECT_EQ(result.proof.max_ulp, 1U);
}

TEST(Lies, OneWrongElementInTheMiddleOfTheRing) {
  const ProofResult result = prove_liar("wrong_in_one_slot");
  EXPECT_EQ(result.proof.differing, 1U);
  EXPECT_EQ(
      prove::differing_slots(result.details.incumbent_digests, result.details.candidate_digests),
      (std::vector<std::uint64_t>{1}));
}

TEST(Lies, Zeros) {
  const ProofResult result = prove_liar("wrong_zeros");
  EXPECT_GT(result.proof.candidate_error_max, 64);
  EXPECT_EQ(result.proof.unwritten, 0U);
}

TEST(Lies, Memoised) {
  const ProofResult result = prove_liar("wrong_memoised");
  EXPECT_EQ(result.details.candidate_repeats, kSlots - 1U);
  EXPECT_GT(result.proof.differing, kElements);
}

TEST(Lies, OneSlotOnly) {
  EXPECT_EQ(prove_liar("wrong_slot").details.candidate_repeats, kSlots - 1U);
}

TEST(Lies, HalfTheSum) {
  EXPECT_GT(prove_liar("half_the_sum").proof.candidate_error_max, 10);
}

TEST(Lies, Nan) {
  const ProofResult result = prove_liar("returns_nan");
  EXPECT_EQ(result.proof.candidate_non_finite, kSlots);
  EXPECT_EQ(result.proof.class_mismatch, kSlots);
}

TEST(Lies, WritesOutside) {
  for (const char* name : {"writes_past_end", "writes_before_start", "writes_far_past_end"}) {
    const ProofResult result = prove_liar(name);
    EXPECT_TRUE(result.proof.wrote_outside) << name;
    EXPECT_FALSE(result.details.incumbent_wrote_outside) << name;
    EXPECT_EQ(result.proof.differing, 0U) << name << " is right otherwise";
  }
}

TEST(Lies, NeverWrites) {
  EXPECT_EQ(prove_liar("never_writes").proof.unwritten, kSlots * kElements);
}

TEST(Lies, StaleAfterFour) {
  // Slots 0 and 1 run twice; what is left stale is slot 2, in both runs.
  EXPECT_EQ(prove_liar("stale_after_four").proof.unwritten, kElements);
}

// ---- what ends the process: in a child of its own
// ----------------------------------------------------------------

// Runs one slot with x in read-only memory, as an arm host has it.
void run_in_full(const std::string& name) {
  const tare_problem problem = bf16_problem(8, 16, 1);
  std::vector<Bf16> y(16);
  void* x = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  DrivenArm arm(module(name), problem, 1, kSeed);
  arm.run(0, {static_cast<const Bf16*>(x), 8}, y);
}

// A hang ends when the alarm rings; whatever else happens must have happened by then.
void run_until_alarm(const std::string& name) {
  const itimerval soon{{0, 0}, {0, 200'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  run_in_full(name);
}

class Crashes : public testing::TestWithParam<const char*> {};
TEST_P(Crashes, KillTheirProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_in_full(GetParam()), "");
}
INSTANTIATE_TEST_SUITE_P(Plugins, Crashes,
                         testing::Values("crash_at_load", "crash_in_open", "crash_in_prepare",
                                         "crash_in_bind", "crash_in_enqueue", "crash_in_fence",
                                         "crash_in_destroy", "abort_in_bind", "writes_x",
                                         "null_functions"),
                         [](const auto& named) { return std::string(named.param); });

class Hangs : public testing::TestWithParam<const char*> {};
TEST_P(Hangs, NeverReturn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_until_alarm(GetParam()), testing::KilledBySignal(SIGALRM), "");
}
INSTANTIATE_TEST_SUITE_P(Plugins, Hangs,
                         testing::Values("hang_in_open", "hang_in_prepare", "hang_in_enqueue",
                                         "hang_in_fence", "spin_in_enqueue"),
                         [](const auto& named) { return std::string(named.param); });

TEST(Exception, CrossesTheAbi) {
  try {
    run_in_full("throws");
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "an exception crossed the C ABI");
  }
}

TEST(Exit, LooksLikeSuccess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_in_full("exit_in_enqueue"), testing::ExitedWithCode(0), "");
}

// ---- refusals, and what is seen when loading
// ------------------------------------------------------------------------

std::string complaint(const std::string& name) {
  try {
    run_in_full(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Refusals, SayWhy) {
  EXPECT_EQ(complaint("refuses"), "supports: this kernel wants k to be a multiple of pi");
  EXPECT_EQ(complaint("refuses_open"), "open: needs a processor with a quantum unit");
  EXPECT_EQ(complaint("silent_failure"), "prepare: ");
  EXPECT_EQ(complaint("fails_in_enqueue"), "enqueue: ");
  EXPECT_EQ(complaint("fails_in_fence"), "fence: ");
  EXPECT_NE(complaint("no_symbol"), "");
}

TEST(Loading, ShowsWhatTheAbiForbids) {
  EXPECT_GT(load_arm(module("other_abi"))->abi, TARE_ARM_ABI);
  EXPECT_EQ(load_arm(module("older_abi"))->abi, TARE_ARM_OLDEST_ABI);
  EXPECT_EQ(load_arm(module("null_functions"))->enqueue, nullptr);
  EXPECT_EQ(load_arm(module("null_name"))->name, nullptr);
  EXPECT_EQ(load_arm(module("no_arms")), nullptr);
  EXPECT_EQ(std::string(load_arm(module("long_names"))->name).size(), 100'000U);
  EXPECT_TRUE((load_arm(module("claims_to_be_a_limit"))->flags & TARE_IS_LIMIT) != 0);
}

TEST(Records, MayLackTheirNul) {
  DrivenArm arm(module("unterminated_record"), bf16_problem(8, 16, 1), 1, kSeed);
  const tare_dispatch_record record = arm.dispatched();
  EXPECT_EQ(record.kernel[sizeof record.kernel - 1], 'k');
  EXPECT_EQ(record.library[sizeof record.library - 1], 'l');
}

}  // namespace
}  // namespace tare::testing_plugins
