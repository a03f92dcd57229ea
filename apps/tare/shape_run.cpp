#include "shape_run.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "judge/judge.h"
#include "problem/problem.h"
#include "proving.h"
#include "weigh/timer_floor.h"

namespace tare::app {
namespace {

using weigh::Role;

constexpr std::uint64_t kWeightSeed = 0x7a12e;
// A weighing whose overhead is not amortised is weighed again with this many times the traffic,
// once.
constexpr double kMoreTraffic = 2;
// Tiny weights would need millions of slots to leave the cache. The ring gate says when these do
// not.
constexpr double kMostSlots = 1 << 17;
constexpr double kSmallestScout = 64e6;  // bytes
// Screening medians of the same arm differ by more than this from look to look.
constexpr double kIndistinguishable = 1.03;

Role limit_role(const arms::RosterArm& arm) {
  return arm.description.name.find("peak") != std::string::npos ? Role::kPeak : Role::kStream;
}

bool curable(const judge::Judgement& judgement) {
  return std::any_of(
      judgement.gates.begin(), judgement.gates.end(),
      [](const judge::Finding& gate) { return !gate.passed && gate.curable_by_traffic; });
}

std::uint64_t slots_of(double ring_bytes, const tare_problem& problem) {
  const double slots = std::ceil(ring_bytes / weigh::weight_bytes(problem));
  return static_cast<std::uint64_t>(std::clamp(slots, 2.0, kMostSlots));
}

SeatPlan seat_plan(const Bench& bench, const tare_problem& problem) {
  SeatPlan plan;
  plan.problem = problem;
  plan.keep_raw = bench.options.mode == weigh::Mode::kPerCall;
  plan.weight_seed = kWeightSeed;
  plan.patience_seconds = bench.options.patience_seconds;
  if (bench.options.residency == weigh::Residency::kHot) return plan;
  plan.full_slots = slots_of(static_cast<double>(bench.header.ring_bytes), problem);
  plan.scout_slots = slots_of(
      std::max(kSmallestScout, static_cast<double>(bench.header.machine.last_level_cache_bytes)),
      problem);
  return plan;
}

report::Screened screened(const Seat& seat, const weigh::Impression& impression,
                          const tare_problem& problem) {
  const double seconds = impression.seconds_per_dispatch;
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

ShapeRun::ShapeRun(Bench& bench, std::uint64_t k, std::uint64_t n)
    : bench_(bench),
      problem_(problem::bf16_problem({"", k, n, 1, ""}, 1)),
      seats_(seat_plan(bench, problem_)) {}

report::Row ShapeRun::weigh(std::uint32_t rows) {
  report::Row row;
  problem_.rows = rows;
  seats_.set_rows(rows);
  row.weighing.problem = problem_;
  row.weighing.mode = bench_.options.mode;
  row.weighing.residency = bench_.options.residency;
  row.weighing.traffic = bench_.header.traffic;
  row.weighing.threads = bench_.header.machine.threads;
  row.weighing.last_level_cache_bytes = bench_.header.machine.last_level_cache_bytes;
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
  const arms::RosterArm& candidate_arm = pick_candidate();
  const arms::PrepareReply candidate_cost = cost_alone(candidate_arm);
  const arms::RosterArm& incumbent_arm = pick_incumbent(row);
  const arms::PrepareReply incumbent_cost = cost_alone(incumbent_arm);
  seats_.release_full_rings_but(incumbent_arm);
  Seat* incumbent = seats_.seat(incumbent_arm, RingSize::kFull, Role::kIncumbent);
  Seat* control = seats_.seat(incumbent_arm, RingSize::kFull, Role::kControl, true);
  Seat* candidate = seats_.seat(candidate_arm, RingSize::kFull, Role::kCandidate);
  std::vector<Part> parts{
      {incumbent, incumbent_cost}, {control, incumbent_cost}, {candidate, candidate_cost}};
  for (Seat* limit : pick_limits()) parts.push_back({limit, {}});
  std::vector<Seat*> seats;
  for (const Part& part : parts) seats.push_back(part.seat);
  bench_.progress.step("preparing");
  prepare_or_throw(seats);

  bench_.progress.step("proving");
  Proving proving(bench_.stage, problem_, kWeightSeed);
  for (Seat* seat : {incumbent, control, candidate}) proving.record_digests(seat->contestant);
  row.weighing.proof =
      proving.prove(incumbent->contestant, candidate->contestant, bench_.header.seed);
  weigh_parts(row, parts);
}

void ShapeRun::prepare_or_throw(const std::vector<Seat*>& seats) {
  seats_.prepare(seats);
  for (const Seat* seat : seats)
    if (!seat->failure.empty()) fail(Blame::kArm, "{}", seat->failure);
}

void ShapeRun::weigh_parts(report::Row& row, const std::vector<Part>& parts) {
  bench_.progress.step("weighing");
  weigh::WeighPlan how = plan();
  weigh::Weighing& weighing = row.weighing;
  fill_arms(weighing, parts);
  std::vector<weigh::Contestant> contestants;
  for (const Part& part : parts) contestants.push_back(part.seat->contestant);
  const judge::Rules& rules = bench_.header.rules;
  const auto enough = [&](const weigh::Weighing& so_far) { return judge::decided(so_far, rules); };
  weighing.seed = how.seed;
  weigh::weigh(how, bench_.runner, contestants, weighing, enough);
  if (!bench_.options.traffic && !weighing.failure && curable(judge::judge(weighing, rules))) {
    how.traffic *= kMoreTraffic;
    how.most_region_seconds *= kMoreTraffic;
    how.budget *= kMoreTraffic;
    weighing.regions.clear();
    weighing.traffic = how.traffic;
    weigh::weigh(how, bench_.runner, contestants, weighing, enough);
  }
  if (!weighing.failure) fill_arms(weighing, parts);
}

// What the arms were prepared as, and, after the regions, which kernel really ran.
void ShapeRun::fill_arms(weigh::Weighing& weighing, const std::vector<Part>& parts) const {
  weighing.arms.clear();
  for (const auto& [seat, cost] : parts) {
    weigh::Arm arm;
    arm.role = seat->contestant.role;
    arm.name = seat->arm->description.name;
    arm.title = seat->arm->description.title;
    arm.dispatched = seat->arm->host->describe(seat->prepared.executor);
    arm.threads_offered = bench_.header.machine.threads;
    arm.huge_page_share = seat->prepared.cost.huge_page_share;
    arm.prepare_seconds = cost.plan_seconds + cost.bind_seconds_per_slot;
    arm.prepared_bytes = cost.bytes_per_slot;
    arm.ring_slots = seat->contestant.slots;
    arm.ring_bytes = static_cast<std::uint64_t>(weigh::weight_bytes(problem_)) * arm.ring_slots;
    weighing.arms.push_back(arm);
  }
}

// What planning and packing cost when nothing else runs: rings are prepared side by side.
arms::PrepareReply ShapeRun::cost_alone(const arms::RosterArm& arm) {
  Seat* priced = seats_.seat(arm, RingSize::kPriced, Role::kCandidate);
  prepare_or_throw({priced});
  const arms::PrepareReply cost = priced->prepared.cost;
  seats_.release_or_throw(*priced);
  return cost;
}

// The incumbents that can do the row, each ready with a small ring; those that cannot are told in
// the row.
std::vector<Seat*> ShapeRun::scouts(report::Row& row) {
  const auto cannot = [&row](const arms::ArmDescription& who, const std::string& reason) {
    row.screened.push_back({who.name, who.title, 0, 0, reason});
  };
  std::vector<Seat*> willing, ready;
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    const arms::ArmDescription& who = arm.description;
    if (arm.part != arms::Part::kIncumbent) continue;
    if (!bench_.options.incumbent.empty() && who.name != bench_.options.incumbent) continue;
    try {
      const auto reason = arm.host->refusal(arm.index, problem_);
      if (reason)
        cannot(who, *reason);
      else
        willing.push_back(seats_.seat(arm, RingSize::kScout, Role::kIncumbent));
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
  std::vector<Seat*> ready = scouts(row);
  const auto impressions = screen(ready);
  const int best = weigh::fastest(impressions);
  for (std::size_t i = 0; i < ready.size(); ++i)
    row.screened.push_back(screened(*ready[i], impressions[i], problem_));
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

const arms::RosterArm& ShapeRun::pick_candidate() {
  const std::string& wanted = bench_.options.candidate;
  std::string refusal = "No candidate was found. tare doctor says why.";
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    // A candidate named by the user may be any arm but a limit: one library against another.
    if (wanted.empty() ? arm.part != arms::Part::kCandidate : arm.description.name != wanted)
      continue;
    if (arm.part == arms::Part::kLimit) continue;
    const bool plugins_turn = wanted.empty() && !bench_.options.plugins.empty();
    if (plugins_turn && !arm.plugin) continue;
    const auto reason = arm.host->refusal(arm.index, problem_);
    if (!reason) return arm;
    refusal = fmt::format("{}: {}", arm.description.name, *reason);
  }
  fail(Blame::kArm, "{}", refusal);
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

// One after the other, so that the memory of one ring serves them all.
std::string ShapeRun::fastest_stream(const std::vector<const arms::RosterArm*>& streams) {
  std::string best;
  double least = 0;
  for (const arms::RosterArm* arm : streams) {
    std::vector<Seat*> alone{seats_.seat(*arm, RingSize::kFull, Role::kStream)};
    prepare_or_throw(alone);
    const double seconds = screen(alone).front().seconds_per_dispatch;
    seats_.release(*alone.front());
    if (seconds > 0 && (best.empty() || seconds < least)) {
      best = arm->description.name;
      least = seconds;
    }
  }
  return best;
}

weigh::WeighPlan ShapeRun::plan() const {
  weigh::WeighPlan plan;
  plan.traffic = bench_.header.traffic;
  plan.budget = std::chrono::duration<double>(bench_.options.seconds_per_row);
  plan.mode = bench_.options.mode;
  plan.residency = bench_.options.residency;
  plan.seed = bench_.header.seed ^ (problem_.k << 40) ^ (problem_.n << 16) ^ problem_.rows;
  return plan;
}

}  // namespace tare::app
