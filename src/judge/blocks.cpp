#include "judge/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tare::judge {
namespace {

using weigh::Region;
using weigh::Role;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Lengths {
  std::uint64_t longest = 0;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
};

// Mean time of the regions of one kind in one block.
struct Mean {
  double sum = 0;
  std::size_t count = 0;
  void add(double seconds) {
    sum += seconds;
    ++count;
  }
  double value() const { return count == 0 ? kNone : sum / static_cast<double>(count); }
};

struct Cell {
  Mean long_time, short_time, half_ring_time;
};

using Row = std::map<Role, Cell>;

bool usable(const Region& region) {
  return std::isfinite(region.seconds) && region.seconds > 0 && region.dispatches > 0;
}

std::map<Role, Lengths> lengths_of(const std::vector<Region>& regions) {
  std::map<Role, Lengths> lengths;
  for (const Region& region : regions) {
    if (region.half_ring || region.dispatches == 0) continue;
    Lengths& own = lengths[region.arm];
    own.longest = std::max(own.longest, region.dispatches);
    own.shortest = std::min(own.shortest, region.dispatches);
  }
  return lengths;
}

bool compared(Role role) {
  return role == Role::kIncumbent || role == Role::kControl || role == Role::kCandidate;
}

// The arms that every complete block must hold.
std::set<Role> required_arms(const weigh::Weighing& weighing) {
  std::set<Role> required;
  for (const weigh::Arm& arm : weighing.arms)
    if (compared(arm.role)) required.insert(arm.role);
  for (const Region& region : weighing.regions)
    if (compared(region.arm)) required.insert(region.arm);
  return required;
}

void add(Cell& cell, const Region& region, const Lengths& lengths) {
  if (region.half_ring) {
    if (region.dispatches == lengths.longest) cell.half_ring_time.add(region.seconds);
  } else if (region.dispatches == lengths.longest) {
    cell.long_time.add(region.seconds);
  } else if (region.dispatches == lengths.shortest) {
    cell.short_time.add(region.seconds);
  }
}

bool complete(const Row& row, const std::set<Role>& required,
              const std::map<Role, Lengths>& lengths) {
  return std::all_of(required.begin(), required.end(), [&](Role role) {
    const auto cell = row.find(role);
    const auto own = lengths.find(role);
    if (cell == row.end() || own == lengths.end() || cell->second.long_time.count == 0)
      return false;
    return own->second.longest == own->second.shortest || cell->second.short_time.count > 0;
  });
}

ArmTimes times_of(Role role, const Lengths& lengths, const std::vector<Row>& rows) {
  ArmTimes times;
  times.long_dispatches = lengths.longest;
  times.short_dispatches = lengths.shortest == lengths.longest ? 0 : lengths.shortest;
  for (const Row& row : rows) {
    const auto found = row.find(role);
    const Cell cell = found == row.end() ? Cell{} : found->second;
    times.long_seconds.push_back(cell.long_time.value());
    times.short_seconds.push_back(cell.short_time.value());
    times.half_ring_seconds.push_back(cell.half_ring_time.value());
  }
  return times;
}

}  // namespace

Blocks arrange(const weigh::Weighing& weighing) {
  const auto lengths = lengths_of(weighing.regions);
  const auto required = required_arms(weighing);
  std::map<std::uint32_t, Row> all;
  std::set<std::uint32_t> spoiled;
  for (const Region& region : weighing.regions) {
    if (!usable(region)) {
      spoiled.insert(region.block);
    } else if (const auto own = lengths.find(region.arm); own != lengths.end()) {
      add(all[region.block][region.arm], region, own->second);
    }
  }
  Blocks blocks;
  std::vector<Row> rows;
  for (auto& [number, row] : all) {
    if (spoiled.contains(number) || !complete(row, required, lengths)) continue;
    blocks.numbers.push_back(number);
    rows.push_back(std::move(row));
  }
  for (const auto& [role, own] : lengths) blocks.arms[role] = times_of(role, own, rows);
  for (const Region& region : weighing.regions) {
    const bool kept =
        std::binary_search(blocks.numbers.begin(), blocks.numbers.end(), region.block);
    const auto own = lengths.find(region.arm);
    if (kept && !region.half_ring && own != lengths.end() &&
        region.dispatches == own->second.longest)
      blocks.long_regions[region.arm].push_back(&region);
  }
  return blocks;
}

}  // namespace tare::judge
