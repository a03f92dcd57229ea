#include "shape_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
#include "weigh/timer_floor.h"

namespace tare::app {
namespace {

using weigh::Role;

// A weighing whose overhead is not amortised is weighed again with this many times the traffic.
constexpr double kMoreTraffic = 2;
// On a GPU a region costs 12 to 70 us beside its kernels: so long a one holds that to a hundredth.
constexpr double kMostDeviceRegion = 6e-3;
// What screening finds for one arm differs by more than this from look to look.
constexpr double kIndistinguishable = 1.03;

// Of an incumbent: the second where another one was the fastest when a verdict was to be confirmed.
constexpr int kMostPicks = 2;

SeatPlan seat_plan(const Bench& bench, const tare_problem& problem) {
  SeatPlan plan =
      plan_seats(problem, bench.options.residency, static_cast<double>(bench.header.ring_bytes),
                 device::arm_memory(bench.header.machine, bench.header.accelerator).cache_bytes);
  plan.keep_raw = bench.options.mode == weigh::Mode::kPerCall;
  plan.patience_seconds = bench.options.patience_seconds;
  return plan;
}

// `times`: the outputs of a scout in the problem's.
report::Screened screened(const Seat& seat, const weigh::Impression& impression,
                          const tare_problem& problem, double times) {
  const double seconds = times * impression.seconds_per_dispatch;
  return {seat.arm->description.name, seat.arm->description.title, seconds,
          seconds > 0 ? weigh::weight_bytes(problem) / seconds / 1e9 : 0, impression.given_up};
}

void sort_fastest_first(std::vector<report::Screened>& entries) {
  const auto rank = [](const report::Screened& entry) {
    return entry.seconds_per_dispatch > 0 ? entry.seconds_per_dispatch : HUGE_VAL;
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

}  // namespace

ShapeRun::ShapeRun(Bench& bench, const tare_problem& problem,
                   const std::vector<std::uint64_t>& parts)
    : bench_(bench), problem_(problem), parts_(parts), seats_(seat_plan(bench, problem_)) {}

report::Row ShapeRun::weigh(std::uint32_t rows) {
  report::Row row;
  problem_.rows = rows;
  seats_.set_rows(rows);
  row.weighing.problem = problem_;
  row.weighing.parts = parts_;
  row.weighing.mode = bench_.options.mode;
  row.weighing.residency = bench_.options.residency;
  row.weighing.threads = bench_.header.machine.threads;
  row.weighing.last_level_cache_bytes =
      device::arm_memory(bench_.header.machine, bench_.header.accelerator).cache_bytes;
  row.weighing.timer_floor_seconds = weigh::timer_floor_seconds();
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
  const arms::RosterArm* incumbent = &pick_incumbent(row);
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
      {seats_.seat(incumbent_arm, RingSize::kFull, Role::kControl, true), incumbent_cost},
      {seats_.seat(candidate_arm, RingSize::kFull, Role::kCandidate), candidate_cost}};
  for (Seat* limit : pick_limits()) parts.push_back({limit, {}});
  bench_.progress.step("preparing");
  prepare_or_throw(seats_of(parts));
  return parts;
}

void ShapeRun::prove(report::Row& row, const std::vector<Part>& parts) {
  bench_.progress.step("proving");
  Proving proving(bench_.stage, problem_, kWeightSeed);
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
    RowProving proving(bench_.stage, problem_, kWeightSeed, bench_.options.patience_seconds);
    found = asked == judge::Equality::kSelf
                ? proving.against_itself(*candidate.arm, candidate.contestant, bench_.header.seed)
                : proving.against_incumbent(*seat_of(Role::kIncumbent).arm, candidate.contestant,
                                            bench_.header.seed);
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

void ShapeRun::prepare_or_throw(const std::vector<Seat*>& seats) {
  seats_.prepare(seats);
  for (const Seat* seat : seats)
    if (!seat->failure.empty()) fail(Blame::kArm, "{}", seat->failure);
}

// Weighs; weighs anew what a gate refused for a reason that another placement may cure, and, in
// fresh processes, what has to be confirmed. Returns the incumbent to weigh against instead, if
// another one turned out to be faster.
const arms::RosterArm* ShapeRun::weigh_parts(report::Row& row, const std::vector<Part>& parts) {
  weigh::WeighPlan how = plan();
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
  const arms::RosterArm& fastest = pick_incumbent(row);
  if (&fastest != parts.front().seat->arm) return {.incumbent = &fastest};
  return {.again = true};
}

// The same arms on other memory.
void ShapeRun::prepare_anew(const std::vector<Part>& parts) {
  for (const Part& part : parts) seats_.release(*part.seat);
  prepare_or_throw(seats_of(parts));
}

void ShapeRun::restart_processes(const std::vector<Part>& parts) {
  std::set<arms::Host*> hosts;
  for (const Part& part : parts)
    if (!weigh::is_limit(part.seat->contestant.role)) hosts.insert(part.seat->arm->host);
  for (arms::Host* host : hosts) host->restart();
  prepare_or_throw(seats_of(parts));
}

// What planning and packing cost when nothing else runs: rings are prepared side by side.
arms::PrepareReply ShapeRun::cost_alone(const arms::RosterArm& arm) {
  Seat* priced = seats_.seat(arm, RingSize::kPriced, Role::kCandidate);
  prepare_or_throw({priced});
  const arms::PrepareReply cost = priced->prepared.cost;
  seats_.release_or_throw(*priced);
  return cost;
}

// Those that are there, or the one that was asked for; each of them by parts as well.
std::vector<const arms::RosterArm*> ShapeRun::incumbents() {
  std::vector<const arms::RosterArm*> arms;
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    const std::string& wanted = bench_.options.incumbent;
    if (arm.part != arms::Part::kIncumbent) continue;
    if (!wanted.empty() && arm.description.name != wanted) continue;
    arms.push_back(&arm);
    const bool on_device = (arm.description.flags & TARE_ON_DEVICE) != 0;
    if (!parts_.empty() && !on_device) arms.push_back(&bench_.roster.by_parts(arm, parts_));
  }
  return arms;
}

// Why it cannot do the row: all of it at once, or one of its parts.
std::optional<std::string> ShapeRun::refusal(const arms::RosterArm& arm) const {
  if (arm.parts.count == 0) return arm.host->refusal(arm.index, problem_);
  for (const std::uint64_t n : parts_) {
    tare_problem part = problem_;
    part.n = n;
    if (auto reason = arm.host->refusal(arm.index, part)) return reason;
  }
  return std::nullopt;
}

// The incumbents that can do the row, each ready with a small ring; those that cannot are told in
// the row.
std::vector<Seat*> ShapeRun::scouts(report::Row& row) {
  const auto cannot = [&row](const arms::ArmDescription& who, const std::string& reason) {
    row.screened.push_back({who.name, who.title, 0, 0, reason});
  };
  std::vector<Seat*> willing, ready;
  for (const arms::RosterArm* arm : incumbents()) {
    const arms::ArmDescription& who = arm->description;
    try {
      if (const auto reason = refusal(*arm))
        cannot(who, *reason);
      else
        willing.push_back(seats_.seat(*arm, RingSize::kScout, Role::kIncumbent));
    } catch (const Error& error) {
      cannot(who, error.what());
    }
  }
  seats_.prepare(willing);
  for (Seat* seat : willing) {
    if (seat->failure.empty())
      ready.push_back(seat);
    else
      cannot(seat->arm->description, seat->failure);
  }
  return ready;
}

std::vector<weigh::Impression> ShapeRun::screen(std::vector<Seat*>& seats) {
  std::vector<weigh::Contestant> contestants;
  for (const Seat* seat : seats) contestants.push_back(seat->contestant);
  const auto impressions = weigh::screen(plan(), {}, bench_.runner, contestants);
  for (std::size_t i = 0; i < seats.size(); ++i)
    seats[i]->contestant.cursor = contestants[i].cursor;
  return impressions;
}

const arms::RosterArm& ShapeRun::pick_incumbent(report::Row& row) {
  bench_.progress.step("screening");
  row.screened.clear();
  std::vector<Seat*> ready = scouts(row);
  const auto impressions = screen(ready);
  const int best = weigh::fastest(impressions);
  for (std::size_t i = 0; i < ready.size(); ++i)
    row.screened.push_back(screened(*ready[i], impressions[i], problem_, seats_.outputs_a_scout()));
  sort_fastest_first(row.screened);
  if (best < 0)
    fail(Blame::kMachine, "No incumbent can do this row here: {}",
         row.screened.empty() ? "none was found; tare doctor says why."
                              : row.screened.front().reason);
  return *prepared_among_equals(ready, impressions, static_cast<std::size_t>(best))->arm;
}

// Of those that a short look cannot tell from the fastest, one whose full rings are there already:
// a choice among equals, that saves seconds of packing.
Seat* ShapeRun::prepared_among_equals(const std::vector<Seat*>& ready,
                                      const std::vector<weigh::Impression>& impressions,
                                      std::size_t best) {
  const double least = impressions[best].seconds_per_dispatch;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const double seconds = impressions[i].seconds_per_dispatch;
    if (seconds > 0 && seconds <= kIndistinguishable * least &&
        seats_.seat(*ready[i]->arm, RingSize::kFull, Role::kIncumbent)->ready)
      return ready[i];
  }
  return ready[best];
}

// Of those that may be served in this incumbent's place the fastest, by a short look; where none
// may, the first: a win of it is a trade, and shows what the equality costs.
const arms::RosterArm& ShapeRun::pick_candidate(const std::vector<const arms::RosterArm*>& willing,
                                                const arms::RosterArm& incumbent) {
  if (willing.size() == 1) return *willing.front();
  bench_.progress.step("comparing candidates");
  std::vector<Seat*> equal;
  for (const arms::RosterArm* candidate : willing) {
    Seat* seat = seats_.seat(*candidate, RingSize::kScout, Role::kCandidate);
    if (is_as_equal(*seat, incumbent)) equal.push_back(seat);
  }
  const int fastest = equal.size() > 1 ? weigh::fastest(screen(equal)) : 0;
  for (const arms::RosterArm* candidate : willing)
    seats_.release(*seats_.seat(*candidate, RingSize::kScout, Role::kCandidate));
  return equal.empty() ? *willing.front()
                       : *equal[static_cast<std::size_t>(std::max(0, fastest))]->arm;
}

// As serving demands, on small rings; what is weighed is proved anew on its own.
bool ShapeRun::is_as_equal(Seat& candidate, const arms::RosterArm& incumbent) {
  const std::vector<Part> parts{{seats_.seat(incumbent, RingSize::kScout, Role::kIncumbent), {}},
                                {&candidate, {}}};
  seats_.prepare(seats_of(parts));
  for (const Part& part : parts)
    if (!part.seat->ready) return false;
  report::Row look;
  prove(look, parts);
  return judge::equality_of(look.weighing.proof, bench_.header.rules.equality) ==
         judge::Bits::kEqual;
}

std::vector<Seat*> ShapeRun::pick_limits() {
  std::vector<const arms::RosterArm*> streams;
  std::vector<Seat*> picked;
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    if (arm.part != arms::Part::kLimit || arm.host->refusal(arm.index, problem_)) continue;
    if (limit_role(arm) == Role::kStream)
      streams.push_back(&arm);
    else
      picked.push_back(seats_.seat(arm, RingSize::kOneSlot, Role::kPeak));
  }
  if (bench_.best_stream.empty()) bench_.best_stream = fastest_stream(streams);
  for (const arms::RosterArm* arm : streams)
    if (arm->description.name == bench_.best_stream)
      picked.push_back(seats_.seat(*arm, RingSize::kFull, Role::kStream));
  return picked;
}

// In turns, so that the machine's slow and fast phases do not pick. One ring serves them all
// (arms/server.h).
std::string ShapeRun::fastest_stream(const std::vector<const arms::RosterArm*>& streams) {
  std::vector<Seat*> seats;
  for (const arms::RosterArm* arm : streams)
    seats.push_back(seats_.seat(*arm, RingSize::kFull, Role::kStream));
  prepare_or_throw(seats);
  const int best = weigh::fastest(screen(seats));
  for (Seat* seat : seats) seats_.release(*seat);
  return best < 0 ? "" : seats[static_cast<std::size_t>(best)]->arm->description.name;
}

std::optional<weigh::DeviceState> ShapeRun::look_at_device() const {
  const auto state = bench_.watch->look();
  if (!state) return std::nullopt;
  return weigh::DeviceState{
      0, 0, state->sm_mhz, state->memory_mhz, state->celsius, state->watts, state->slowed_by};
}

weigh::WeighPlan ShapeRun::plan() const {
  weigh::WeighPlan plan;
  plan.traffic = bench_.header.traffic;
  plan.budget = std::chrono::duration<double>(bench_.options.seconds_per_row);
  plan.mode = bench_.options.mode;
  plan.residency = bench_.options.residency;
  if (bench_.watch != nullptr) {
    plan.look_at_device = [this] { return look_at_device(); };
    plan.most_region_seconds = kMostDeviceRegion;
  }
  plan.seed = bench_.header.seed ^ (problem_.k << 40) ^ (problem_.n << 16) ^ problem_.rows;
  return plan;
}

}  // namespace tare::app
