#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(NoiseGate, SaysNothingOnAQuietMachine) {
  EXPECT_EQ(finding_of("noise", weigh_synthetic({})).sentence, "");
}

TEST(NoiseGate, NotesANeighbourButDoesNotRefuse) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions) region.elsewhere_cpu_seconds = 0.6 * region.seconds;
  const Finding finding = finding_of("noise", weighing);
  EXPECT_TRUE(finding.passed);
  EXPECT_NE(finding.sentence.find("60 %"), std::string::npos) << finding.sentence;
}

}  // namespace
}  // namespace tare::judge::testing
