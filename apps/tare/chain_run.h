// All projections of a token, weighed as one dispatch: what the sum of its rows leaves out (whether
// a kernel is as fast between others as alone) is in it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench.h"
#include "chain_plan.h"
#include "parts.h"

namespace tare::app {

class ChainRun {
 public:
  // `model`: of the bench's header, its types decided. How many of its layers fit is looked at anew
  // for every row count.
  ChainRun(Bench& bench, const problem::Model& model, ProblemOf problem_of);

  enum class Contest {
    kLibraryAgainstCandidate,
    kApartAgainstFused,  // the candidate's own dispatches: fused ones by parts, and at once
  };

  // Of kLibraryAgainstCandidate the incumbent is the library that was fastest for all of the chain
  // together in the screenings of `before`, the rows of its parts; candidate, the arms that they
  // have, of one module. Proves every matrix of the chain, weighs, and weighs again in fresh
  // processes, as a row. What fails is told in row.weighing.failure; throws Interrupted only.
  report::Row weigh(std::uint32_t rows, std::span<const report::Row> before, Contest contest);

 private:
  // One arm of the chain: for every part an arm of one module, and all of its dispatches as one.
  struct Runner {
    std::vector<const arms::RosterArm*> arms;  // by part
    std::vector<arms::Prepared> prepared;
    Seat seat;
    arms::PrepareReply cost;
  };

  void weigh_or_throw(report::Row& row, std::span<const report::Row> before);
  void pick(std::span<const report::Row> before);
  const arms::RosterArm* arm_named(const std::string& name, std::size_t part) const;
  std::vector<const arms::RosterArm*> by_parts(std::vector<const arms::RosterArm*> arms) const;
  void fill(weigh::Weighing& weighing) const;
  std::vector<const arms::RosterArm*> pick_library(std::span<const report::Row> before) const;
  std::vector<const arms::RosterArm*> pick_candidate(std::span<const report::Row> before) const;
  std::vector<const arms::RosterArm*> limit_arms(bool stream) const;
  void add_runner(const std::vector<const arms::RosterArm*>& arms, weigh::Role role);
  void prepare_all();
  void prepare(Runner& runner);
  void release_all();
  std::vector<arms::Link> links_of(const Runner& runner) const;
  weigh::Proof prove();
  void record_digest(Runner& runner);
  void weigh_placements(report::Row& row, std::span<const report::Row> before);
  std::vector<Part> parts() const;
  tare_problem problem_of_part(std::size_t part) const;
  tare_problem widest() const;

  Bench& bench_;
  const problem::Model& model_;
  ProblemOf problem_of_;
  ChainPlan plan_;
  std::uint32_t rows_ = 1;
  Contest contest_ = Contest::kLibraryAgainstCandidate;
  std::vector<std::unique_ptr<Runner>> runners_;
};

}  // namespace tare::app
