// One shape on this machine: every arm that can do it, prepared once, and weighed at one row count
// after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "arms/roster.h"
#include "bench.h"
#include "parts.h"
#include "report/results.h"
#include "screening.h"
#include "seats.h"
#include "weigh/weigh.h"

namespace tare::app {

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
  const arms::RosterArm& pick_candidate(const std::vector<const arms::RosterArm*>& willing,
                                        const arms::RosterArm& incumbent);
  bool is_as_equal(Seat& candidate, const arms::RosterArm& incumbent);
  arms::PrepareReply cost_alone(const arms::RosterArm& arm);
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

  Bench& bench_;
  tare_problem problem_{};
  std::vector<std::uint64_t> parts_;
  Seats seats_;
  Screening screening_;
};

}  // namespace tare::app
