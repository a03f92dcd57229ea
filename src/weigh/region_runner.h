// Runs one region of one arm while everybody else sleeps, and records what was true meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "arms/host.h"
#include "weigh/contestant.h"
#include "weigh/stage.h"
#include "weigh/weighing.h"

namespace tare::weigh {

struct RegionPlan {
  std::uint64_t dispatches = 1;
  Purpose purpose = Purpose::kRound;
  Mode mode = Mode::kPrepared;
  Residency residency = Residency::kCold;
};

class RegionRunner {
 public:
  // `hosts`: all arm hosts that are alive, the contestants' among them. Both must outlive the
  // runner.
  RegionRunner(Stage& stage, const std::vector<arms::Host*>& hosts)
      : stage_(stage), hosts_(hosts) {}

  // Limit arms run prepared whatever the plan's mode: a floor has no naive user. Throws tare::Error
  // (kArm) when the arm fails; Interrupted on ^C.
  Region run(Contestant& contestant, const RegionPlan& plan);

 private:
  void wait_for_quiet() const;
  double others_cpu_seconds(const arms::Host* own) const;
  Outputs check_outputs(const Contestant& contestant, const arms::RegionRequest& request);

  Stage& stage_;
  const std::vector<arms::Host*>& hosts_;
};

}  // namespace tare::weigh
