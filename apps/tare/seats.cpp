#include "seats.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "formats/weight_format.h"
#include "weigh/weighing.h"

namespace tare::app {
namespace {

constexpr double kPricedBytes = 16e6;
constexpr std::uint64_t kNarrowPart = 32;  // outputs: 64 bytes of bf16
// Bytes a second: slower than that is a hang. Rounding weights to GGUF blocks is Tare's own work
// and slow (a ring of 256 MB of q6_k took longer than 21 s beside a busy neighbour).
constexpr double kSlowestPreparing = 2e8;
constexpr double kSlowestPreparingBlocks = 4e6;

// A slice shows what dispatches cost beside their weights: as many of them, some narrow.
arms::Parts sliced(arms::Parts parts, std::uint64_t columns, std::uint64_t narrow) {
  if (columns <= narrow * (parts.count - 1)) return {};
  std::fill_n(parts.n, parts.count - 1, narrow);
  parts.n[parts.count - 1] = columns - narrow * (parts.count - 1);
  return parts;
}

// A step of columns for each part, and of the others as much as it has of the whole; what rounding
// leaves goes to the widest.
arms::Parts scouted(const arms::Parts& whole, std::uint64_t columns) {
  const std::uint64_t all = std::accumulate(whole.n, whole.n + whole.count, std::uint64_t{0});
  const std::uint64_t shared = columns - whole.count * kColumnStep;
  arms::Parts parts = whole;
  std::uint64_t left = columns;
  for (std::uint32_t i = 0; i < whole.count; ++i) {
    parts.n[i] = (1 + shared * whole.n[i] / all / kColumnStep) * kColumnStep;
    left -= parts.n[i];
  }
  parts.n[std::max_element(whole.n, whole.n + whole.count) - whole.n] += left;
  return parts;
}

}  // namespace

std::chrono::milliseconds preparing_patience(const tare_problem& problem, std::uint64_t slots,
                                             double patience_seconds) {
  const bool blocks = formats::format_of(problem.weights).family == formats::Family::kBlocks;
  const double bytes = weigh::weight_bytes(problem) * static_cast<double>(slots);
  const double slowest = blocks ? kSlowestPreparingBlocks : kSlowestPreparing;
  return std::chrono::milliseconds(static_cast<long>(1000 * (patience_seconds + bytes / slowest)));
}

Seats::~Seats() {
  for (auto& [key, seat] : seats_) release(*seat);
}

Seat* Seats::seat(const arms::RosterArm& arm, RingSize size, weigh::Role role) {
  std::unique_ptr<Seat>& seat = seats_[{arm.host, arm.description.name, size, role}];
  if (!seat) {
    seat = std::make_unique<Seat>();
    seat->arm = &arm;
    seat->size = size;
    seat->contestant.role = role;
  }
  return seat.get();
}

void Seats::prepare(const std::vector<Seat*>& seats) {
  std::vector<Seat*> waiting;
  for (Seat* seat : seats)
    if (!ready_already(*seat)) waiting.push_back(seat);
  while (!waiting.empty()) {
    std::set<arms::Host*> busy;
    std::vector<Seat*> begun, later;
    for (Seat* seat : waiting) {
      const bool free = busy.insert(seat->arm->host).second;
      if (free) begin(*seat);
      (free ? begun : later).push_back(seat);
    }
    for (Seat* seat : begun) end(*seat);
    waiting = later;
  }
}

void Seats::prepare_or_throw(const std::vector<Seat*>& seats) {
  prepare(seats);
  for (const Seat* seat : seats)
    if (!seat->failure.empty()) fail(Blame::kArm, "{}", seat->failure);
}

// Keeps the weights of a seat that can serve the row count with them; frees them where it cannot.
bool Seats::ready_already(Seat& seat) {
  seat.failure.clear();
  arms::Host& host = *seat.arm->host;
  if (seat.life != host.life()) seat.ready = false;
  if (!seat.ready) return false;
  try {
    if (seat.rows == plan_.problem.rows ||
        host.set_rows(seat.prepared.executor, plan_.problem.rows)) {
      seat.rows = plan_.problem.rows;
      return true;
    }
  } catch (const Error& error) {
    seat.failure = error.what();
    seat.ready = false;
    return true;
  }
  release(seat);
  return false;
}

void Seats::begin(Seat& seat) {
  try {
    seat.parts = parts(seat);
    seat.arm->host->begin_prepare(seat.arm->index, problem(seat.size),
                                  static_cast<std::uint32_t>(slots(seat.size)),
                                  {.seed = plan_.weight_seed}, plan_.keep_raw, seat.parts);
  } catch (const Error& error) {
    seat.failure = error.what();
  }
}

void Seats::end(Seat& seat) {
  if (!seat.failure.empty()) return;
  try {
    arms::Host& host = *seat.arm->host;
    seat.prepared = host.end_prepare(patience(seat));
    seat.life = host.life();
    seat.rows = plan_.problem.rows;
    seat.ready = true;
    seat.contestant.host = &host;
    seat.contestant.executor = seat.prepared.executor;
    seat.contestant.slots = slots(seat.size);
    seat.contestant.cursor = 0;
    seat.contestant.output_parts.assign(seat.parts.n, seat.parts.n + seat.parts.count);
  } catch (const Error& error) {
    seat.failure = error.what();
  }
}

void Seats::release(Seat& seat) noexcept {
  if (take_back(seat)) seat.arm->host->discard(seat.prepared.executor);
}

void Seats::release_or_throw(Seat& seat) {
  if (take_back(seat)) seat.arm->host->destroy(seat.prepared.executor);
}

// Whether its host still holds what was prepared.
bool Seats::take_back(Seat& seat) {
  const arms::Host& host = *seat.arm->host;
  const bool held = seat.ready && host.alive() && seat.life == host.life();
  seat.ready = false;
  return held;
}

void Seats::release_full_rings_but(const arms::RosterArm& arm) {
  for (auto& [key, seat] : seats_)
    if (seat->size == RingSize::kFull && seat->arm->part == arm.part && seat->arm != &arm)
      release(*seat);
}

std::uint64_t Seats::slots(RingSize size) const {
  switch (size) {
    case RingSize::kFull:
      return plan_.full_slots;
    case RingSize::kScout:
      return std::min(plan_.scout_slots, plan_.full_slots);
    case RingSize::kPriced:
      return std::clamp<std::uint64_t>(
          static_cast<std::uint64_t>(kPricedBytes / weigh::weight_bytes(plan_.problem)), 1, 8);
    case RingSize::kOneSlot:
    case RingSize::kSlice:
    case RingSize::kSliceTwice:
      return 1;
  }
  return 1;
}

tare_problem Seats::problem(RingSize size) const {
  tare_problem problem = plan_.problem;
  if (size == RingSize::kScout && plan_.scout_columns > 0) problem.n = plan_.scout_columns;
  if (size == RingSize::kSlice) problem.n = plan_.slice_columns;
  if (size == RingSize::kSliceTwice) problem.n = 2 * plan_.slice_columns;
  return problem;
}

double Seats::outputs_a_scout() const {
  return static_cast<double>(plan_.problem.n) / static_cast<double>(problem(RingSize::kScout).n);
}

arms::Parts Seats::parts(const Seat& seat) const {
  const arms::Parts& whole = seat.arm->parts;
  const std::uint64_t columns = problem(seat.size).n;
  if (whole.count == 0 || columns == plan_.problem.n) return whole;
  switch (seat.size) {
    case RingSize::kSlice:
      return sliced(whole, columns, kNarrowPart);
    case RingSize::kSliceTwice:
      return sliced(whole, columns, 2 * kNarrowPart);
    default:
      return scouted(whole, columns);
  }
}

std::chrono::milliseconds Seats::patience(const Seat& seat) const {
  return preparing_patience(plan_.problem, slots(seat.size), plan_.patience_seconds);
}

}  // namespace tare::app
