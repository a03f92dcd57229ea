// One shape on this machine: every arm that can do it, prepared once, and weighed at one row count
// after the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "headroom.h"
#include "progress.h"
#include "report/results.h"
#include "weigh/region_runner.h"
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
  std::string best_stream;  // the read kernel that was fastest at the first shape; "" before
};

class ShapeRun {
 public:
  ShapeRun(Bench& bench, std::uint64_t k, std::uint64_t n);
  ~ShapeRun();
  ShapeRun(const ShapeRun&) = delete;
  ShapeRun& operator=(const ShapeRun&) = delete;

  // Screens, proves, weighs and judges. What fails is told in row.weighing.failure; throws
  // Interrupted only.
  report::Row weigh(std::uint32_t rows);

 private:
  // An arm of the roster as prepared for this shape; `control` seats hold a second executor of the
  // same arm.
  struct Seat {
    const arms::RosterArm* arm = nullptr;
    std::uint32_t life = 0;  // of the host, when it was prepared
    std::uint32_t rows = 0;
    arms::Prepared prepared;
    bool ready = false;
    weigh::Contestant contestant;
  };
  using Seats =
      std::map<std::string, std::unique_ptr<Seat>>;  // by arm name; "<arm>'" for a control

  void weigh_or_throw(report::Row& row);
  std::vector<Seat*> seats_that_can(arms::Part part, report::Row& row);
  Seat* take_seat(const arms::RosterArm& arm, const std::string& key);
  void prepare(Seat& seat);
  void release(Seat& seat);
  Seat* pick_incumbent(report::Row& row);
  Seat* pick_candidate();
  std::vector<Seat*> pick_limits();
  std::string fastest_stream(const std::vector<const arms::RosterArm*>& streams);
  void weigh_seats(report::Row& row, const std::vector<Seat*>& seats);
  void fill_arms(weigh::Weighing& weighing, const std::vector<Seat*>& seats);
  weigh::WeighPlan plan() const;
  std::uint32_t slots() const;

  Bench& bench_;
  tare_problem problem_{};
  Seats seats_;
};

}  // namespace tare::app
