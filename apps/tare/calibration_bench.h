// Arms of known cost on this machine: prepared as a row's arms are, weighed by the same code, in
// one setting.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arms/host.h"
#include "arms/roster.h"
#include "device/machine.h"
#include "device/neighbour.h"
#include "judge/calibration.h"
#include "parts.h"
#include "plants.h"
#include "seats.h"
#include "weigh/region_runner.h"
#include "weigh/stage.h"
#include "weigh/weigh.h"

namespace tare::app {

// An arm that is weighed against itself, in place of arms of known cost.
struct EqualArm {
  arms::Where where = arms::Where::kProcessor;
  std::string module, name;  // "onednn", "onednn"
};

struct CalibrationSetting {
  std::optional<EqualArm> equal;  // nothing: the arms of the module `planted`
  weigh::Residency residency = weigh::Residency::kCold;
  device::NeighbourKind neighbour = device::NeighbourKind::kNone;
  std::uint64_t k = 0, n = 0;
  std::uint32_t threads = 1;
  double ring_bytes = 0;
  std::uint64_t cache_bytes = 0;  // last-level, of where arms run
  double traffic = 1e9;           // bytes of weights a long region reads
  double seconds = 2.2;           // most of one placement
  std::uint32_t placements = 1;   // of every verdict; a win has headroom's at least
};
std::string name_of(const CalibrationSetting& setting);  // "cold, bus burner"

// When a run ends, beside its time.
enum class Goal {
  kDecide,     // as a row does
  kSee,        // and when it is known which arm is faster
  kWatch,      // never
  kOneLength,  // regions of one length and no slices, a few blocks of them
};

struct Experiment {
  std::string name;  // what the candidate has that the incumbent has not: "1 % slower"
  // Null, both of them: the arm of CalibrationSetting::equal, in two processes.
  const planted::Plant* incumbent = nullptr;
  const planted::Plant* candidate = nullptr;
  Goal goal = Goal::kDecide;
};

class CalibrationBench {
 public:
  // Starts the neighbour and two hosts of the module. Throws tare::Error (kMachine,
  // kArm).
  explicit CalibrationBench(const CalibrationSetting& setting);

  // Prepares the arms in fresh processes, and proves them. Throws tare::Error (kArm, kMachine).
  void prepare(const Experiment& experiment, std::uint64_t seed);
  // Weighs what was prepared, and as a row does anew, in fresh processes, what a gate refused or
  // what was not won often enough. Throws tare::Error (kArm) when an arm fails; Interrupted on ^C.
  judge::Trial run(const Experiment& experiment, std::uint64_t seed);

 private:
  arms::RosterArm arm_of(arms::Host& host, const planted::Plant* plant) const;
  void fill(weigh::Weighing& weighing) const;
  bool again(const Experiment& experiment, const judge::Judgement& judgement,
             weigh::Weighing& weighing, int& cures) const;
  weigh::WeighPlan plan(const Experiment& experiment, std::uint64_t seed) const;

  CalibrationSetting setting_;
  tare_problem problem_{};
  weigh::Stage stage_;
  device::Neighbour neighbour_;
  std::unique_ptr<arms::Host> incumbent_host_, candidate_host_;
  std::vector<arms::Host*> hosts_;
  weigh::RegionRunner runner_;
  // Of the present experiment.
  arms::RosterArm incumbent_arm_, candidate_arm_;
  std::unique_ptr<Seats> seats_;
  std::vector<Part> parts_;
  weigh::Weighing prepared_;
};

}  // namespace tare::app
