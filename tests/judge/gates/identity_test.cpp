#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(IdentityGate, PassesForTwoKernels) {
  expect_passes("identity", weigh_synthetic({}));
}

TEST(IdentityGate, RefusesACandidateThatFellBack) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).dispatched = arm(weighing, Role::kIncumbent).dispatched;
  expect_fails("identity", weighing, "library_gemm");
}

TEST(IdentityGate, RefusesTheSameArm) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).name = arm(weighing, Role::kIncumbent).name;
  expect_fails("identity", weighing, "the same arm, 'library'");
}

TEST(IdentityGate, AnotherConfigurationIsAnotherKernel) {
  auto weighing = weigh_synthetic({});
  tare_dispatch_record& record = arm(weighing, Role::kCandidate).dispatched;
  record = arm(weighing, Role::kIncumbent).dispatched;
  record.configuration[0] = 'x';
  expect_passes("identity", weighing);
}

TEST(IdentityGate, UnknownKernelsAreNotTheSame) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).dispatched = {};
  arm(weighing, Role::kIncumbent).dispatched = {};
  expect_passes("identity", weighing);
}

TEST(IdentityGate, ReadsRecordsWithoutAnEnd) {
  auto weighing = weigh_synthetic({});
  for (const Role role : {Role::kIncumbent, Role::kCandidate}) {
    tare_dispatch_record& record = arm(weighing, role).dispatched;
    std::fill(std::begin(record.kernel), std::end(record.kernel), 'k');
    std::fill(std::begin(record.library), std::end(record.library), 'l');
  }
  expect_fails("identity", weighing, "kkkk");
}

}  // namespace
}  // namespace tare::judge::testing
