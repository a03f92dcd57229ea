// Who takes part in a weighing, from the seats of one shape: what is done alike for every row,
// whoever asks for it.
#pragma once

#include <cstdint>
#include <vector>

#include "arms/control_page.h"
#include "headroom.h"
#include "judge/judge.h"
#include "seats.h"
#include "weigh/weighing.h"

namespace tare::app {

inline constexpr std::uint64_t kWeightSeed = 0x7a12e;
// A row is weighed anew so often at most because a gate refused, before it is refused.
inline constexpr int kMostCures = 2;

// A part in the weighing, and what preparing it alone cost.
struct Part {
  Seat* seat = nullptr;
  arms::PrepareReply cost;
};

// Of a limit arm: by its name, as the ABI has one flag for both.
weigh::Role limit_role(const arms::RosterArm& arm);

std::vector<Seat*> seats_of(const std::vector<Part>& parts);
std::vector<weigh::Contestant> contestants_of(const std::vector<Part>& parts);

// Rings of `ring_bytes` where the weights are to be cold, some copies where they are hot;
// `cache_bytes`: of the last-level cache that they are to be past. A matrix of more than
// `largest_scout` bytes is scouted by a part of its columns.
SeatPlan plan_seats(const tare_problem& problem, weigh::Residency residency, double ring_bytes,
                    std::uint64_t cache_bytes, double largest_scout = kLargestScout);

// Thin slices of incumbent and candidate. An arm that cannot do them goes without: then a is told
// from rounds and long regions, and c not at all.
void prepare_slices(weigh::Weighing& weighing, Seats& seats, const std::vector<Part>& parts);

// What the arms were prepared as, and, after the regions, which kernel really ran. Throws
// tare::Error (kArm) when a host is gone.
void fill_arms(weigh::Weighing& weighing, const std::vector<Part>& parts);

// The gate that refused; null when all passed.
const judge::Finding* first_failed(const judge::Judgement& judgement);

}  // namespace tare::app
