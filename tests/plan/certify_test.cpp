// Certificates find their decisions, and only theirs.
#include "plan/certify.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "tests/plan/fixture.h"

namespace tare::plan {
namespace {

using prove::Certificate;
using prove::Held;
using testing::HasSubstr;

Certificate certificate_of(const Plan& plan) {
  const Decision& decision = plan.decisions.front();
  const auto digest = [&](const std::string& arm) {
    for (const Module& module : plan.keys.modules)
      if (module.arm == arm) return module.digest;
    return std::string();
  };
  Certificate made = prove::blank_certificate();
  made.implementation.name = decision.candidate.arm;
  made.implementation.hash = digest(decision.candidate.arm);
  made.incumbent = decision.incumbent.arm;
  made.incumbent_hash = digest(decision.incumbent.arm);
  made.problem = decision.problem;
  made.rows = {decision.problem.rows};
  for (prove::Invariance& line : made.invariances) line.held = Held::kEqual;
  made.classes = {{.name = "normal", .elements = 64}};
  made.manners.dispatches = 1;
  made.manners.guard_pages = made.manners.control_word = Held::kEqual;
  return made;
}

TEST(Certify, HandsACertificateToItsDecisionAlone) {
  Plan plan = fixture::plan();
  const std::vector<Certificate> certificates{certificate_of(plan)};
  ASSERT_TRUE(prove::proves_incumbent(certificates.front()));
  EXPECT_EQ(certify(plan, certificates), 1u);
  EXPECT_FALSE(plan.decisions[0].certificate.is_null());
  EXPECT_TRUE(plan.decisions[1].certificate.is_null()) << "another row count";
  EXPECT_EQ(plan.decisions[0].decision, judge::Decision::kServe);
}

TEST(Certify, OfAnotherBuildShapeOrIncumbentItIsNobodys) {
  const Plan plan = fixture::plan();
  for (const auto& change : std::vector<std::function<void(Certificate&)>>{
           [](Certificate& c) { c.implementation.hash = "another"; },
           [](Certificate& c) { c.incumbent_hash = "another"; },
           [](Certificate& c) { c.incumbent = "another"; }, [](Certificate& c) { ++c.problem.k; },
           [](Certificate& c) { c.problem.weights = TARE_F32; }}) {
    Plan changed = plan;
    std::vector<Certificate> certificates{certificate_of(plan)};
    change(certificates.front());
    EXPECT_EQ(certify(changed, certificates), 0u);
  }
}

TEST(Certify, WhatIsNotProvedIsNotServed) {
  Plan plan = fixture::plan();
  std::vector<Certificate> certificates{certificate_of(plan)};
  certificates.front().classes.front().differing = 1;
  EXPECT_EQ(certify(plan, certificates), 1u);
  EXPECT_EQ(plan.decisions[0].decision, judge::Decision::kTrade);
  EXPECT_THAT(plan.decisions[0].reason, HasSubstr("does not prove"));
}

TEST(Certify, AFileWithoutCertificatesIsSaid) {
  const auto path = std::filesystem::path(testing::TempDir()) / "none.jsonl";
  std::ofstream(path) << R"({"kind":"header"})" << '\n';
  EXPECT_THROW(read_certificates(path), Error);
  std::ofstream(path) << "no JSON\n";
  EXPECT_THROW(read_certificates(path), Error);
  EXPECT_THROW(read_certificates("not-there.jsonl"), Error);
}

}  // namespace
}  // namespace tare::plan
