// What an engine sees through include/tare/plan.h.
#include <gmock/gmock.h>

#include "device/machine.h"
#include "plan/isa_names.h"
#include "tare/plan.h"
#include "tests/plan/fixture.h"

namespace tare::plan {
namespace {

using report::samples::TemporaryFile;
using testing::HasSubstr;

class Engine : public testing::Test {
 protected:
  Engine() {
    const device::Machine machine = device::inspect();
    plan_.keys.processor = machine.processor;
    plan_.keys.cores = machine.cores;
    plan_.keys.threads = machine.threads;
    plan_.keys.isa = isa_names(machine.isa);
    for (Decision& decision : plan_.decisions) decision.candidate.library = "Tare 1 (kernels 2)";
  }
  ~Engine() override { tare_plan_close(opened_); }

  tare_plan* open() {
    write_plan(file_.path(), plan_);
    opened_ = tare_plan_open(file_.path().c_str(), why_, sizeof why_);
    return opened_;
  }
  int serves(tare_problem problem) {
    return tare_plan_serves(opened_, &engine_, &problem, nullptr, why_, sizeof why_);
  }

  Plan plan_ = fixture::plan();
  TemporaryFile file_;
  tare_plan* opened_ = nullptr;
  tare_plan_engine engine_{"onednn", "oneDNN 2.6.3", "Tare 1 (kernels 2)", nullptr};
  char why_[256] = "";
};

TEST_F(Engine, IsServedWhereThePlanServes) {
  ASSERT_NE(open(), nullptr) << why_;
  EXPECT_EQ(tare_plan_holds(opened_, &engine_, why_, sizeof why_), 0) << why_;
  tare_problem problem = plan_.decisions[0].problem;
  tare_plan_decision decision{};
  EXPECT_EQ(tare_plan_serves(opened_, &engine_, &problem, &decision, nullptr, 0), 0);
  EXPECT_EQ(decision.ratio, plan_.decisions[0].ratio);
  EXPECT_STREQ(decision.equality, "incumbent");
  EXPECT_EQ(decision.candidate, plan_.decisions[0].candidate.arm);
}

TEST_F(Engine, IsServedNothingElse) {
  ASSERT_NE(open(), nullptr);
  EXPECT_NE(serves(plan_.decisions[1].problem), 0);
  EXPECT_THAT(why_, HasSubstr("keep: the candidate is slower"));
  for (const auto change :
       {+[](tare_problem& p) { p.rows = 2; }, +[](tare_problem& p) { p.k += 64; },
        +[](tare_problem& p) { p.bias = TARE_BF16; }, +[](tare_problem& p) { p.n += 64; },
        +[](tare_problem& p) { p.weights = TARE_GGUF_Q4_0; },
        +[](tare_problem& p) { p.activations = TARE_BF16_AS_INT8; }}) {
    tare_problem other = plan_.decisions[0].problem;
    change(other);
    EXPECT_NE(serves(other), 0);
    EXPECT_THAT(why_, HasSubstr("not in the plan"));
  }
}

TEST_F(Engine, LearnsWhetherAnyRowCountIsServed) {
  ASSERT_NE(open(), nullptr);
  tare_problem problem = plan_.decisions[0].problem;
  problem.rows = 77;
  EXPECT_EQ(tare_plan_serves_some_rows(opened_, &engine_, &problem), 0);
  problem.n += 64;
  EXPECT_NE(tare_plan_serves_some_rows(opened_, &engine_, &problem), 0);
}

TEST_F(Engine, LearnsWhichRowCountsAreServed) {
  Decision more = plan_.decisions[0];
  more.problem.rows = plan_.decisions[0].problem.rows + 3;
  plan_.decisions.insert(plan_.decisions.begin(), more);
  ASSERT_NE(open(), nullptr);
  std::uint32_t rows[3] = {};
  EXPECT_EQ(tare_plan_rows(opened_, &engine_, &more.problem, rows, 3), 2U);
  EXPECT_EQ(rows[0] + 3, rows[1]);
  EXPECT_EQ(rows[1], more.problem.rows);
  rows[1] = 0;
  EXPECT_EQ(tare_plan_rows(opened_, &engine_, &more.problem, rows, 1), 2U);
  EXPECT_EQ(rows[1], 0U);
  more.problem.n += 64;
  EXPECT_EQ(tare_plan_rows(opened_, &engine_, &more.problem, nullptr, 0), 0U);
}

TEST_F(Engine, OnAnotherDeviceLearnsThat) {
  plan_.keys.accelerator = "a GPU, driver 1";
  ASSERT_NE(open(), nullptr);
  EXPECT_NE(tare_plan_holds(opened_, &engine_, why_, sizeof why_), 0);
  EXPECT_THAT(why_, HasSubstr("it was made for a GPU, driver 1, and this is the processor"));
  engine_.accelerator = "a GPU, driver 1";
  EXPECT_EQ(tare_plan_holds(opened_, &engine_, why_, sizeof why_), 0) << why_;
}

TEST_F(Engine, OfOtherKernelsOrOtherBitsIsServedNothing) {
  ASSERT_NE(open(), nullptr);
  engine_.kernels = "Tare 1 (kernels 3)";
  EXPECT_NE(serves(plan_.decisions[0].problem), 0);
  EXPECT_THAT(why_, HasSubstr("Tare 1 (kernels 2), and this is Tare 1 (kernels 3)"));
  engine_ = {"ggml", "ggml 1", "Tare 1 (kernels 2)", nullptr};
  EXPECT_NE(serves(plan_.decisions[0].problem), 0);
  EXPECT_THAT(why_, HasSubstr("its bits are those of oneDNN"));
}

TEST_F(Engine, LearnsWhyAPlanDoesNotHold) {
  plan_.keys.processor = "an abacus";
  ASSERT_NE(open(), nullptr);
  EXPECT_NE(tare_plan_holds(opened_, &engine_, why_, sizeof why_), 0);
  EXPECT_THAT(why_, HasSubstr("an abacus"));
}

TEST_F(Engine, OfAnotherVersionLearnsThat) {
  ASSERT_NE(open(), nullptr);
  engine_.title = "oneDNN 3.14";
  EXPECT_NE(tare_plan_holds(opened_, &engine_, why_, sizeof why_), 0);
  EXPECT_THAT(why_, HasSubstr("oneDNN 2.6.3, and this is oneDNN 3.14"));
}

TEST_F(Engine, GetsNoBrokenPlan) {
  report::samples::write_text(file_.path(), encode(plan_).substr(0, 100));
  EXPECT_EQ(tare_plan_open(file_.path().c_str(), why_, 20), nullptr);
  EXPECT_EQ(std::string(why_).size(), 19u);
  EXPECT_EQ(tare_plan_open("/nowhere", nullptr, 0), nullptr);
}

}  // namespace
}  // namespace tare::plan
