// One shape on this machine: every arm that can do it, prepared once, and weighed at one row count
// after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "device/accelerator.h"
#include "headroom.h"
#include "parts.h"
#include "progress.h"
#include "report/results.h"
#include "seats.h"
#include "weigh/region_runner.h"
#include "weigh/screening.h"
#include "weigh/stage.h"
#include "weigh/weigh.h"

namespace tare::app {

// What all shapes of one run share.
struct Bench {
  const HeadroomOptions& options;
  const report::Header& header;
  arms::Roster& roster;
  weigh::Stage& stage;
  weigh::RegionRunner& runner;
  Progress& progress;
  const device::AcceleratorWatch* watch = nullptr;  // null: arms run on the processor
  std::string best_stream;  // the read kernel that was fastest at the first shape; "" before
};

class ShapeRun {
 public:
  // `problem`: shape and types; rows is weigh()'s. `parts`: of a fused projection, n of each; then
  // every incumbent is tried at once and by parts, and the faster is the incumbent.
  ShapeRun(Bench& bench, const tare_problem& problem, const std::vector<std::uint64_t>& parts);

  // Screens, proves, weighs and judges. What fails is told in row.weighing.failure; throws
  // Interrupted only.
  report::Row weigh(std::uint32_t rows);

 private:
  void weigh_or_throw(report::Row& row);
  std::vector<Part> parts_of(const arms::RosterArm& incumbent, const arms::RosterArm& candidate);
  void prove(report::Row& row, const std::vector<Part>& parts);
  void prove_rows(report::Row& row, const std::vector<Part>& parts, judge::Equality asked);
  std::vector<const arms::RosterArm*> incumbents();
  std::optional<std::string> refusal(const arms::RosterArm& arm) const;
  std::vector<Seat*> scouts(report::Row& row);
  const arms::RosterArm& pick_incumbent(report::Row& row);
  std::vector<weigh::Impression> screen(std::vector<Seat*>& seats);
  Seat* prepared_among_equals(const std::vector<Seat*>& ready,
                              const std::vector<weigh::Impression>& impressions, std::size_t best);
  const arms::RosterArm& pick_candidate(const std::vector<const arms::RosterArm*>& willing,
                                        const arms::RosterArm& incumbent);
  bool is_as_equal(Seat& candidate, const arms::RosterArm& incumbent);
  std::vector<Seat*> pick_limits();
  std::string fastest_stream(const std::vector<const arms::RosterArm*>& streams);
  arms::PrepareReply cost_alone(const arms::RosterArm& arm);
  void prepare_or_throw(const std::vector<Seat*>& seats);
  // What follows a weighing: another of the same parts, or one against another incumbent, or
  // neither.
  struct Next {
    bool again = false;
    const arms::RosterArm* incumbent = nullptr;
  };
  const arms::RosterArm* weigh_parts(report::Row& row, const std::vector<Part>& parts);
  Next after(report::Row& row, const std::vector<Part>& parts, weigh::WeighPlan& how, int& cures);
  Next confirm(report::Row& row, const std::vector<Part>& parts, weigh::WeighPlan& how);
  void prepare_anew(const std::vector<Part>& parts);
  void restart_processes(const std::vector<Part>& parts);
  weigh::WeighPlan plan() const;
  std::optional<weigh::DeviceState> look_at_device() const;

  Bench& bench_;
  tare_problem problem_{};
  std::vector<std::uint64_t> parts_;
  Seats seats_;
};

}  // namespace tare::app
