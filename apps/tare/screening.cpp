#include "screening.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "parts.h"

namespace tare::app {
namespace {

using weigh::Role;

// What screening finds for one arm differs by more than this from look to look.
constexpr double kIndistinguishable = 1.03;

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

// Those that are there, or the one that was asked for; each of them by parts as well.
std::vector<const arms::RosterArm*> Screening::incumbents() const {
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
std::optional<std::string> Screening::refusal(const arms::RosterArm& arm) const {
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
std::vector<Seat*> Screening::scouts(report::Row& row) {
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

std::vector<weigh::Impression> Screening::look(const std::vector<Seat*>& seats) {
  std::vector<weigh::Contestant> contestants;
  contestants.reserve(seats.size());
  for (const Seat* seat : seats) contestants.push_back(seat->contestant);
  auto impressions = weigh::screen(weigh_plan(bench_, problem_), {}, bench_.runner, contestants);
  for (std::size_t i = 0; i < seats.size(); ++i)
    seats[i]->contestant.cursor = contestants[i].cursor;
  return impressions;
}

const arms::RosterArm& Screening::pick_incumbent(report::Row& row) {
  bench_.progress.step("screening");
  row.screened.clear();
  std::vector<Seat*> ready = scouts(row);
  const auto impressions = look(ready);
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
Seat* Screening::prepared_among_equals(const std::vector<Seat*>& ready,
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

std::vector<Seat*> Screening::pick_limits() {
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
std::string Screening::fastest_stream(const std::vector<const arms::RosterArm*>& streams) {
  std::vector<Seat*> seats;
  seats.reserve(streams.size());
  for (const arms::RosterArm* arm : streams)
    seats.push_back(seats_.seat(*arm, RingSize::kFull, Role::kStream));
  seats_.prepare_or_throw(seats);
  const int best = weigh::fastest(look(seats));
  for (Seat* seat : seats) seats_.release(*seat);
  return best < 0 ? "" : seats[static_cast<std::size_t>(best)]->arm->description.name;
}

}  // namespace tare::app
