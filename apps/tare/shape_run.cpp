#include "shape_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "judge/judge.h"
#include "problem/problem.h"
#include "proving.h"
#include "weigh/screening.h"
#include "weigh/timer_floor.h"

namespace tare::app {
namespace {

using weigh::Role;

constexpr std::uint64_t kWeightSeed = 0x7a12e;
// A weighing whose overhead is not amortised is weighed again with this many times the traffic,
// once.
constexpr double kMoreTraffic = 4;

Role role_of(const arms::RosterArm& arm) {
  switch (arm.part) {
    case arms::Part::kIncumbent:
      return Role::kIncumbent;
    case arms::Part::kCandidate:
      return Role::kCandidate;
    case arms::Part::kLimit:
      break;
  }
  return arm.description.name.find("peak") != std::string::npos ? Role::kPeak : Role::kStream;
}

// Tiny weights would need millions of slots to leave the cache. The ring gate says when these do
// not.
constexpr double kMostSlots = 1 << 17;

bool curable(const judge::Judgement& judgement) {
  return std::any_of(
      judgement.gates.begin(), judgement.gates.end(),
      [](const judge::Finding& gate) { return !gate.passed && gate.curable_by_traffic; });
}

double seconds_of(const weigh::Impression& impression) {
  return impression.seconds_per_dispatch;
}

}  // namespace

ShapeRun::ShapeRun(Bench& bench, std::uint64_t k, std::uint64_t n) : bench_(bench) {
  problem_ = problem::bf16_problem({"", k, n, 1, ""}, 1);
}

ShapeRun::~ShapeRun() {
  for (auto& [name, seat] : seats_) release(*seat);
}

report::Row ShapeRun::weigh(std::uint32_t rows) {
  report::Row row;
  problem_.rows = rows;
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
  Seat* incumbent = pick_incumbent(row);
  Seat* control = take_seat(*incumbent->arm, incumbent->arm->description.name + "'");
  control->contestant.role = Role::kControl;
  Seat* candidate = pick_candidate();
  std::vector<Seat*> seats{incumbent, control, candidate};
  const std::vector<Seat*> limits = pick_limits();
  seats.insert(seats.end(), limits.begin(), limits.end());

  bench_.progress.step("proving");
  Proving proving(bench_.stage, problem_, kWeightSeed);
  for (Seat* seat : {incumbent, control, candidate}) proving.record_digests(seat->contestant);
  row.weighing.proof =
      proving.prove(incumbent->contestant, candidate->contestant, bench_.header.seed);
  weigh_seats(row, seats);
}

void ShapeRun::weigh_seats(report::Row& row, const std::vector<Seat*>& seats) {
  bench_.progress.step("weighing");
  weigh::WeighPlan how = plan();
  weigh::Weighing& weighing = row.weighing;
  fill_arms(weighing, seats);
  std::vector<weigh::Contestant> contestants;
  for (const Seat* seat : seats) contestants.push_back(seat->contestant);
  const judge::Rules& rules = bench_.header.rules;
  const auto enough = [&](const weigh::Weighing& so_far) { return judge::decided(so_far, rules); };
  weighing.seed = how.seed;
  weigh::weigh(how, bench_.runner, contestants, weighing, enough);
  if (!bench_.options.traffic && !weighing.failure && curable(judge::judge(weighing, rules))) {
    how.traffic *= kMoreTraffic;
    how.most_region_seconds *= kMoreTraffic;
    how.budget *= 2;
    weighing.regions.clear();
    weighing.traffic = how.traffic;
    weigh::weigh(how, bench_.runner, contestants, weighing, enough);
  }
  if (!weighing.failure) fill_arms(weighing, seats);
}

// What the arms were prepared as, and, after the regions, which kernel really ran.
void ShapeRun::fill_arms(weigh::Weighing& weighing, const std::vector<Seat*>& seats) {
  weighing.arms.clear();
  for (const Seat* seat : seats) {
    weigh::Arm arm;
    arm.role = seat->contestant.role;
    arm.name = seat->arm->description.name;
    arm.title = seat->arm->description.title;
    arm.dispatched = seat->arm->host->describe(seat->prepared.executor);
    arm.threads_offered = bench_.header.machine.threads;
    arm.huge_page_share = seat->prepared.cost.huge_page_share;
    arm.prepare_seconds =
        seat->prepared.cost.plan_seconds + seat->prepared.cost.bind_seconds_per_slot;
    arm.prepared_bytes = seat->prepared.cost.bytes_per_slot;
    arm.ring_slots = seat->contestant.slots;
    arm.ring_bytes = static_cast<std::uint64_t>(weigh::weight_bytes(problem_)) * arm.ring_slots;
    weighing.arms.push_back(arm);
  }
}

std::vector<ShapeRun::Seat*> ShapeRun::seats_that_can(arms::Part part, report::Row& row) {
  const std::string& wanted =
      part == arms::Part::kIncumbent ? bench_.options.incumbent : bench_.options.candidate;
  std::vector<Seat*> seats;
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    if (arm.part != part) continue;
    if (!wanted.empty() && arm.description.name != wanted) continue;
    std::string reason;
    try {
      reason = arm.host->refusal(arm.index, problem_).value_or("");
      if (reason.empty()) seats.push_back(take_seat(arm, arm.description.name));
    } catch (const Error& error) {
      reason = error.what();
    }
    if (!reason.empty())
      row.screened.push_back({arm.description.name, arm.description.title, 0, 0, reason});
  }
  return seats;
}

ShapeRun::Seat* ShapeRun::take_seat(const arms::RosterArm& arm, const std::string& key) {
  std::unique_ptr<Seat>& seat = seats_[key];
  if (!seat) {
    seat = std::make_unique<Seat>();
    seat->arm = &arm;
    seat->contestant.role = role_of(arm);
  }
  prepare(*seat);
  return seat.get();
}

// Makes the seat ready for the present row count: keeps its weights where the arm can, prepares
// anew where not.
void ShapeRun::prepare(Seat& seat) {
  arms::Host& host = *seat.arm->host;
  if (seat.life != host.life()) seat.ready = false;
  if (seat.ready && seat.rows == problem_.rows) return;
  if (seat.ready && host.set_rows(seat.prepared.executor, problem_.rows)) {
    seat.rows = problem_.rows;
    return;
  }
  release(seat);
  bench_.progress.step("preparing");
  const auto patience =
      std::chrono::milliseconds(static_cast<long>(1000 * bench_.options.patience_seconds)) +
      std::chrono::seconds(30 + static_cast<long>(weigh::weight_bytes(problem_) * slots() / 2e8));
  host.begin_prepare(seat.arm->index, problem_, slots(), kWeightSeed,
                     bench_.options.mode == weigh::Mode::kPerCall);
  seat.prepared = host.end_prepare(patience);
  seat.life = host.life();
  seat.rows = problem_.rows;
  seat.ready = true;
  seat.contestant.host = &host;
  seat.contestant.executor = seat.prepared.executor;
  seat.contestant.slots = slots();
}

void ShapeRun::release(Seat& seat) {
  if (!seat.ready) return;
  seat.ready = false;
  try {
    if (seat.arm->host->alive() && seat.life == seat.arm->host->life())
      seat.arm->host->destroy(seat.prepared.executor);
  } catch (const Error&) {  // an arm that crashes in destroy() has given its numbers already
  }
}

ShapeRun::Seat* ShapeRun::pick_incumbent(report::Row& row) {
  const std::vector<Seat*> seats = seats_that_can(arms::Part::kIncumbent, row);
  bench_.progress.step("screening");
  std::vector<weigh::Contestant> contestants;
  for (const Seat* seat : seats) contestants.push_back(seat->contestant);
  const auto impressions = weigh::screen(plan(), {}, bench_.runner, contestants);
  const int best = weigh::fastest(impressions);
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const double seconds = seconds_of(impressions[i]);
    row.screened.push_back(
        {seats[i]->arm->description.name, seats[i]->arm->description.title, seconds,
         seconds > 0 ? weigh::weight_bytes(problem_) / seconds / 1e9 : 0, impressions[i].given_up});
  }
  std::stable_sort(row.screened.begin(), row.screened.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const report::Screened& s) {
      return s.seconds_per_dispatch > 0 ? s.seconds_per_dispatch : 1e300;
    };
    return rank(a) < rank(b);
  });
  if (best < 0)
    fail(Blame::kMachine, "No incumbent can do this row here: {}",
         row.screened.empty() ? "none was found; tare doctor says why."
                              : row.screened.front().reason);
  return seats[static_cast<std::size_t>(best)];
}

ShapeRun::Seat* ShapeRun::pick_candidate() {
  report::Row refusals;
  const std::vector<Seat*> seats = seats_that_can(arms::Part::kCandidate, refusals);
  for (Seat* seat : seats) {
    const bool users =
        !bench_.options.plugins.empty() && seat->arm->description.name.starts_with("tare-");
    if (!users || !bench_.options.candidate.empty()) return seat;
  }
  if (!refusals.screened.empty())
    fail(Blame::kArm, "{}: {}", refusals.screened.back().arm, refusals.screened.back().reason);
  fail(Blame::kMachine, "No candidate was found. tare doctor says why.");
}

std::vector<ShapeRun::Seat*> ShapeRun::pick_limits() {
  std::vector<const arms::RosterArm*> streams;
  std::vector<Seat*> picked;
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    if (arm.part != arms::Part::kLimit || arm.host->refusal(arm.index, problem_)) continue;
    if (role_of(arm) == Role::kStream)
      streams.push_back(&arm);
    else
      picked.push_back(take_seat(arm, arm.description.name));
  }
  if (bench_.best_stream.empty()) bench_.best_stream = fastest_stream(streams);
  for (const arms::RosterArm* arm : streams)
    if (arm->description.name == bench_.best_stream)
      picked.push_back(take_seat(*arm, bench_.best_stream));
  return picked;
}

// One after the other, so that the memory of one ring serves them all.
std::string ShapeRun::fastest_stream(const std::vector<const arms::RosterArm*>& streams) {
  std::string best;
  double least = 0;
  for (const arms::RosterArm* arm : streams) {
    Seat* seat = take_seat(*arm, arm->description.name);
    std::vector<weigh::Contestant> alone{seat->contestant};
    const double seconds =
        weigh::screen(plan(), {}, bench_.runner, alone).front().seconds_per_dispatch;
    release(*seat);
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

std::uint32_t ShapeRun::slots() const {
  if (bench_.options.residency == weigh::Residency::kHot) return 1;
  const double slots =
      std::ceil(static_cast<double>(bench_.header.ring_bytes) / weigh::weight_bytes(problem_));
  return static_cast<std::uint32_t>(std::clamp(slots, 2.0, kMostSlots));
}

}  // namespace tare::app
