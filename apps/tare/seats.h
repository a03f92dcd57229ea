// The arms of one shape as they are prepared in their hosts: who has a ring of which size, ready
// for which row count.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "arms/roster.h"
#include "weigh/contestant.h"

namespace tare::app {

// Of slices and scouts: whole tiles for most kernels.
inline constexpr std::uint64_t kColumnStep = 64;

// How much of the weights an arm gets.
enum class RingSize {
  kFull,        // what verdicts are taken from
  kScout,       // about one last-level cache: enough to pick an incumbent, and quickly filled
  kPriced,      // a few slots, prepared while nothing else runs: what preparing costs
  kOneSlot,     // arms that read no weights
  kSlice,       // one slot of a thin slice of the problem: what a region and a dispatch cost
  kSliceTwice,  // of a slice twice as wide
};

struct Seat {
  const arms::RosterArm* arm = nullptr;
  RingSize size = RingSize::kFull;
  std::uint32_t life = 0;  // of the host, when it was prepared
  std::uint32_t rows = 0;
  bool ready = false;
  arms::Prepared prepared;
  arms::Parts parts;    // as prepared: of a part of the columns they are narrower than the arm's
  std::string failure;  // why preparing failed; "" when ready
  weigh::Contestant contestant;
};

struct SeatPlan {
  tare_problem problem{};  // rows changes from row to row
  std::uint64_t full_slots = 1;
  std::uint64_t scout_slots = 1;
  std::uint64_t scout_columns = 0;  // n of kScout, where a whole slot would be too much; 0: all
  std::uint64_t slice_columns = 1;  // n of kSlice
  bool keep_raw = false;            // for per-call regions
  std::uint64_t weight_seed = 0;
  double patience_seconds = 20;
};

// How long preparing so many slots may take before the arm counts as hung.
std::chrono::milliseconds preparing_patience(const tare_problem& problem, std::uint64_t slots,
                                             double patience_seconds);

class Seats {
 public:
  explicit Seats(const SeatPlan& plan) : plan_(plan) {}
  ~Seats();
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  void set_rows(std::uint32_t rows) { plan_.problem.rows = rows; }

  // The problem of a seat of that size: huge matrices are scouted by a part of their columns.
  tare_problem problem(RingSize size) const;
  // How many times the outputs of a scout the problem has.
  double outputs_a_scout() const;

  // The seat of an arm in a role, with a ring of that size. Not prepared yet.
  Seat* seat(const arms::RosterArm& arm, RingSize size, weigh::Role role);

  // Makes the seats ready for the present row count. Weights stay where the arm can serve another
  // row count with them. Hosts prepare side by side, each its own seats one after the other. What
  // fails is told in seat.failure.
  void prepare(const std::vector<Seat*>& seats);
  void prepare_or_throw(const std::vector<Seat*>& seats);  // throws tare::Error (kArm) instead
  void release(Seat& seat) noexcept;                       // see Host::discard()
  void release_or_throw(Seat& seat);                       // throws tare::Error (kArm) when it does
  // Frees the full rings of all other arms of that part, so that their memory serves the next one.
  void release_full_rings_but(const arms::RosterArm& arm);

 private:
  bool ready_already(Seat& seat);
  static bool take_back(Seat& seat);
  void begin(Seat& seat);
  void end(Seat& seat);
  std::uint64_t slots(RingSize size) const;
  arms::Parts parts(const Seat& seat) const;
  std::chrono::milliseconds patience(const Seat& seat) const;

  SeatPlan plan_;
  // Of an arm by name in a host: one that is weighed against itself sits in several.
  using Key = std::tuple<const arms::Host*, std::string, RingSize, weigh::Role>;
  std::map<Key, std::unique_ptr<Seat>> seats_;
};

}  // namespace tare::app
