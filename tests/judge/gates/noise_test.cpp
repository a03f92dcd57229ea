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

TEST(NoiseGate, NotesWhoElseUsesTheDevice) {
  auto weighing = weigh_synthetic({});
  for (std::uint32_t block = 0; block < 9; ++block)
    weighing.device_states.push_back({0, block, 1980, 3201, 40, 300, 0, block < 5 ? 0.97 : 0});
  const Finding finding = finding_of("noise", weighing);
  EXPECT_TRUE(finding.passed);
  EXPECT_NE(finding.sentence.find("97 % of the GPU"), std::string::npos) << finding.sentence;
  for (weigh::DeviceState& state : weighing.device_states) state.others_busy /= 10;
  EXPECT_EQ(finding_of("noise", weighing).sentence, "");
}

}  // namespace
}  // namespace tare::judge::testing
