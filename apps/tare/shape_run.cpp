#include "shape_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/splitmix.h"
#include "candidates.h"
#include "judge/judge.h"
#include "judge/verdict.h"
#include "problem/problem.h"
#include "proving.h"
#include "row_proving.h"

namespace tare::app {
namespace {

using weigh::Role;

// A weighing whose overhead is not amortised is weighed again with this many times the traffic.
constexpr double kMoreTraffic = 2;
// Of an incumbent: the second where another one was the fastest when a verdict was to be confirmed.
constexpr int kMostPicks = 2;

SeatPlan seat_plan(const Bench& bench, const tare_problem& problem) {
  SeatPlan plan =
      plan_seats(problem, bench.options.residency, static_cast<double>(bench.header.ring_bytes),
                 device::arm_memory(bench.header.machine, bench.header.accelerator).cache_bytes,
                 bench.options.scout_bytes);
  plan.keep_raw = bench.options.mode == weigh::Mode::kPerCall;
  plan.patience_seconds = bench.options.patience_seconds;
  return plan;
}

}  // namespace

ShapeRun::ShapeRun(Bench& bench, const tare_problem& problem,
                   const std::vector<std::uint64_t>& parts)
    : bench_(bench),
      problem_(problem),
      parts_(parts),
      seats_(seat_plan(bench, problem_)),
      screening_(bench_, seats_, problem_, parts_) {}

report::Row ShapeRun::weigh(std::uint32_t rows) {
  report::Row row;
  problem_.rows = rows;
  seats_.set_rows(rows);
  row.weighing = blank_weighing(bench_, problem_);
  row.weighing.parts = parts_;
  try {
    bench_.roster.revive();
    bench_.stage.set_problem(problem_, bench_.header.seed);
    weigh_or_throw(row);
  } catch (const Error& error) {
    row.weighing.failure = error.what();
  }
  row.judgement = judge::judge(row.weighing, bench_.header.rules);
  return row;
}

void ShapeRun::weigh_or_throw(report::Row& row) {
  const auto candidates = willing_candidates(bench_.roster, bench_.options, problem_);
  const arms::RosterArm* incumbent = &screening_.pick_incumbent(row);
  for (int pick = 0; pick < kMostPicks && incumbent != nullptr; ++pick) {
    const std::vector<Part> parts = parts_of(*incumbent, pick_candidate(candidates, *incumbent));
    row.weighing.placements.clear();
    row.weighing.regions.clear();
    prove(row, parts);
    incumbent = weigh_parts(row, parts);
  }
}

// Incumbent, control, candidate and limits, ready.
std::vector<Part> ShapeRun::parts_of(const arms::RosterArm& incumbent_arm,
                                     const arms::RosterArm& candidate_arm) {
  const arms::PrepareReply candidate_cost = cost_alone(candidate_arm);
  const arms::PrepareReply incumbent_cost = cost_alone(incumbent_arm);
  seats_.release_full_rings_but(incumbent_arm);
  std::vector<Part> parts{
      {seats_.seat(incumbent_arm, RingSize::kFull, Role::kIncumbent), incumbent_cost},
      {seats_.seat(incumbent_arm, RingSize::kFull, Role::kControl), incumbent_cost},
      {seats_.seat(candidate_arm, RingSize::kFull, Role::kCandidate), candidate_cost}};
  for (Seat* limit : screening_.pick_limits()) parts.push_back({limit, {}});
  bench_.progress.step("preparing");
  seats_.prepare_or_throw(seats_of(parts));
  return parts;
}

void ShapeRun::prove(report::Row& row, const std::vector<Part>& parts) {
  bench_.progress.step("proving");
  const tare_problem problem = seats_.problem(parts.front().seat->size);
  Proving proving(bench_.stage, problem, kWeightSeed);
  std::map<Role, weigh::Contestant*> contestants;
  for (const Part& part : parts) {
    weigh::Contestant& contestant = part.seat->contestant;
    contestants[contestant.role] = &contestant;
    if (!weigh::is_limit(contestant.role)) proving.record_digests(contestant);
  }
  const judge::Equality asked = bench_.header.rules.equality;
  row.weighing.proof = proving.prove(
      *contestants[Role::kIncumbent], *contestants[Role::kCandidate], bench_.header.seed,
      asked == judge::Equality::kBounded ? kOracleElementsOfBounded : kOracleElements);
  if (asked == judge::Equality::kSelf || asked == judge::Equality::kOneRow)
    prove_rows(row, parts, asked);
}

// What cannot be proved is told in the row, and is not served.
void ShapeRun::prove_rows(report::Row& row, const std::vector<Part>& parts, judge::Equality asked) {
  weigh::RowProof& found = row.weighing.proof.rows;
  const auto seat_of = [&](Role role) -> const Seat& {
    return *std::ranges::find(parts, role, [](const Part& part) {
              return part.seat->contestant.role;
            })->seat;
  };
  const Seat& candidate = seat_of(Role::kCandidate);
  try {
    RowProving proving(bench_.stage, seats_.problem(candidate.size), kWeightSeed,
                       bench_.options.patience_seconds);
    found =
        asked == judge::Equality::kSelf
            ? proving.against_itself(candidate, bench_.header.seed)
            : proving.against_incumbent(seat_of(Role::kIncumbent), candidate, bench_.header.seed);
    if (asked == judge::Equality::kOneRow && problem_.rows == 1) {  // the incumbent's bits
      found.elements += row.weighing.proof.elements;
      found.by_count += row.weighing.proof.differing;
    }
  } catch (const Error& error) {
    found = {};
    found.failure = error.what();
  }
  bench_.roster.revive();
  bench_.stage.set_problem(problem_, bench_.header.seed);
}

// Weighs; weighs anew what a gate refused for a reason that another placement may cure, and, in
// fresh processes, what has to be confirmed. Returns the incumbent to weigh against instead, if
// another one turned out to be faster.
const arms::RosterArm* ShapeRun::weigh_parts(report::Row& row, const std::vector<Part>& parts) {
  weigh::WeighPlan how = weigh_plan(bench_, problem_);
  int cures = 0;
  Next next{.again = true};
  while (next.again) {
    bench_.progress.step(row.weighing.placements.empty() ? "weighing" : "weighing again");
    fill_arms(row.weighing, parts);
    prepare_slices(row.weighing, seats_, parts);
    std::vector<weigh::Contestant> contestants = contestants_of(parts);
    const auto enough = [&](const weigh::Weighing& so_far) {
      return judge::decided(so_far, bench_.header.rules);
    };
    weigh::weigh(how, bench_.runner, contestants, row.weighing, enough);
    if (row.weighing.failure) return nullptr;
    fill_arms(row.weighing, parts);
    next = after(row, parts, how, cures);
  }
  return next.incumbent;
}

// Whether there is a reason to weigh once more; makes the arms and the plan ready for it.
ShapeRun::Next ShapeRun::after(report::Row& row, const std::vector<Part>& parts,
                               weigh::WeighPlan& how, int& cures) {
  const judge::Judgement judgement = judge::judge(row.weighing, bench_.header.rules);
  how.seed += kSplitMixStep;
  const judge::Finding* refused = first_failed(judgement);
  if (refused == nullptr) return judgement.unconfirmed ? confirm(row, parts, how) : Next{};
  const bool longer = refused->curable_by_traffic && !bench_.options.traffic;
  if (!(longer || refused->curable_by_repeating) || cures++ == kMostCures) return {};
  row.weighing.placements.back().set_aside = refused->gate;
  if (longer) {
    how.traffic *= kMoreTraffic;
    how.most_region_seconds *= kMoreTraffic;
  } else {
    prepare_anew(parts);
  }
  return {.again = true};
}

// Ready to find a verdict again, in fresh processes; and the incumbent is picked again, since the
// first pick may have been bad luck and the verdict with it.
ShapeRun::Next ShapeRun::confirm(report::Row& row, const std::vector<Part>& parts,
                                 weigh::WeighPlan& how) {
  restart_processes(parts);
  // Anew: a library that searches for its fastest algorithm may find another one, of other bits.
  prove(row, parts);
  how.fresh_processes = true;
  const arms::RosterArm& fastest = screening_.pick_incumbent(row);
  if (&fastest != parts.front().seat->arm) return {.incumbent = &fastest};
  return {.again = true};
}

// The same arms on other memory.
void ShapeRun::prepare_anew(const std::vector<Part>& parts) {
  for (const Part& part : parts) seats_.release(*part.seat);
  seats_.prepare_or_throw(seats_of(parts));
}

void ShapeRun::restart_processes(const std::vector<Part>& parts) {
  std::set<arms::Host*> hosts;
  for (const Part& part : parts)
    if (!weigh::is_limit(part.seat->contestant.role)) hosts.insert(part.seat->arm->host);
  for (arms::Host* host : hosts) host->restart();
  seats_.prepare_or_throw(seats_of(parts));
}

// What planning and packing cost when nothing else runs: rings are prepared side by side.
arms::PrepareReply ShapeRun::cost_alone(const arms::RosterArm& arm) {
  Seat* priced = seats_.seat(arm, RingSize::kPriced, Role::kCandidate);
  seats_.prepare_or_throw({priced});
  const arms::PrepareReply cost = priced->prepared.cost;
  seats_.release_or_throw(*priced);
  return cost;
}

// Of those that may be served in this incumbent's place the fastest, by a short look; where none
// may, the fastest of all: a win of it is a trade, and shows what the equality costs.
const arms::RosterArm& ShapeRun::pick_candidate(const std::vector<const arms::RosterArm*>& willing,
                                                const arms::RosterArm& incumbent) {
  if (willing.size() == 1) return *willing.front();
  bench_.progress.step("comparing candidates");
  std::vector<Seat*> equal, others;
  for (const arms::RosterArm* candidate : willing) {
    Seat* seat = seats_.seat(*candidate, RingSize::kScout, Role::kCandidate);
    if (is_as_equal(*seat, incumbent))
      equal.push_back(seat);
    else if (seat->ready)
      others.push_back(seat);
  }
  const std::vector<Seat*>& best = equal.empty() ? others : equal;
  const int fastest = best.size() > 1 ? weigh::fastest(screening_.look(best)) : 0;
  for (const arms::RosterArm* candidate : willing)
    seats_.release(*seats_.seat(*candidate, RingSize::kScout, Role::kCandidate));
  bench_.roster.revive();
  return best.empty() ? *willing.front()
                      : *best[static_cast<std::size_t>(std::max(0, fastest))]->arm;
}

// As serving demands, on small rings; what is weighed is proved anew on its own.
bool ShapeRun::is_as_equal(Seat& candidate, const arms::RosterArm& incumbent) {
  const std::vector<Part> parts{{seats_.seat(incumbent, RingSize::kScout, Role::kIncumbent), {}},
                                {&candidate, {}}};
  bench_.roster.revive();  // a candidate that crashed must not cost the next one its turn
  seats_.prepare(seats_of(parts));
  for (const Part& part : parts)
    if (!part.seat->ready) return false;
  report::Row look;
  bench_.stage.set_problem(seats_.problem(RingSize::kScout), bench_.header.seed);
  prove(look, parts);
  bench_.stage.set_problem(problem_, bench_.header.seed);
  return judge::equality_of(look.weighing.proof, bench_.header.rules.equality) ==
         judge::Bits::kEqual;
}

}  // namespace tare::app
