#include "judge/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tare::judge {
namespace {

using weigh::Purpose;
using weigh::Region;
using weigh::Role;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

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

// One arm in one block.
struct Cell {
  std::map<std::uint32_t, Mean> rounds;
  std::map<Purpose, Mean> others;
  double value(Purpose purpose) const {
    const auto found = others.find(purpose);
    return found == others.end() ? kNone : found->second.value();
  }
};

using Row = std::map<Role, Cell>;
using Lengths = std::map<std::pair<Role, Purpose>, std::uint64_t>;

bool usable(const Region& region) {
  return std::isfinite(region.seconds) && region.seconds > 0 && region.dispatches > 0;
}

Lengths lengths_of(const std::vector<Region>& regions) {
  std::map<std::pair<Role, Purpose>, std::map<std::uint64_t, std::size_t>> counts;
  for (const Region& region : regions)
    if (region.dispatches > 0) ++counts[{region.arm, region.purpose}][region.dispatches];
  Lengths lengths;
  for (const auto& [kind, by_length] : counts)
    lengths[kind] = std::ranges::max_element(by_length, {}, [](const auto& entry) {
                      return entry.second;
                    })->first;
  return lengths;
}

bool compared(Role role) {
  return !weigh::is_limit(role);
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

void add(Cell& cell, const Region& region) {
  if (region.purpose == Purpose::kRound)
    cell.rounds[region.round].add(region.seconds);
  else
    cell.others[region.purpose].add(region.seconds);
}

std::size_t rounds_in(const Row& row, Role role) {
  const auto cell = row.find(role);
  return cell == row.end() ? 0 : cell->second.rounds.size();
}

std::size_t rounds_of_a_block(const std::map<std::uint32_t, Row>& rows) {
  std::size_t most = 0;
  for (const auto& [number, row] : rows)
    for (const auto& [role, cell] : row)
      if (compared(role)) most = std::max(most, cell.rounds.size());
  return most;
}

std::uint64_t length(const Lengths& lengths, Role role, Purpose purpose) {
  const auto found = lengths.find({role, purpose});
  return found == lengths.end() ? 0 : found->second;
}

std::vector<double> rounds_of(const Cell& cell) {
  std::vector<double> seconds;
  for (const auto& [round, mean] : cell.rounds) seconds.push_back(mean.value());
  return seconds;
}

ArmTimes times_of(Role role, const Lengths& lengths, const std::vector<Row>& rows) {
  ArmTimes times;
  times.round_dispatches = length(lengths, role, Purpose::kRound);
  times.long_dispatches = length(lengths, role, Purpose::kLong);
  times.half_ring_dispatches = length(lengths, role, Purpose::kHalfRing);
  times.slice_dispatches = length(lengths, role, Purpose::kSliceMany);
  for (const Row& row : rows) {
    const auto found = row.find(role);
    const Cell cell = found == row.end() ? Cell{} : found->second;
    times.round_seconds.push_back(rounds_of(cell));
    times.long_seconds.push_back(cell.value(Purpose::kLong));
    times.half_ring_seconds.push_back(cell.value(Purpose::kHalfRing));
    times.slice_one_seconds.push_back(cell.value(Purpose::kSliceOne));
    times.slice_many_seconds.push_back(cell.value(Purpose::kSliceMany));
    times.slice_twice_seconds.push_back(cell.value(Purpose::kSliceTwice));
  }
  return times;
}

void collect_long_regions(const weigh::Weighing& weighing, Blocks& blocks) {
  for (const Region& region : weighing.regions) {
    const auto arm = blocks.arms.find(region.arm);
    const bool kept =
        std::binary_search(blocks.numbers.begin(), blocks.numbers.end(), region.block);
    if (!kept || arm == blocks.arms.end()) continue;
    const Purpose longest = arm->second.long_dispatches > 0 ? Purpose::kLong : Purpose::kRound;
    if (region.purpose == longest) blocks.long_regions[region.arm].push_back(&region);
  }
}

}  // namespace

Blocks arrange(const weigh::Weighing& weighing) {
  const Lengths lengths = lengths_of(weighing.regions);
  std::map<std::uint32_t, Row> all;
  std::set<std::uint32_t> spoiled;
  for (const Region& region : weighing.regions) {
    if (!usable(region))
      spoiled.insert(region.block);
    else if (region.dispatches == length(lengths, region.arm, region.purpose))
      add(all[region.block][region.arm], region);
  }
  const std::size_t rounds = rounds_of_a_block(all);
  const std::set<Role> required = required_arms(weighing);
  Blocks blocks;
  std::vector<Row> rows;
  std::set<Role> roles = required;
  for (auto& [number, row] : all) {
    for (const auto& [role, cell] : row) roles.insert(role);
    const bool complete = rounds > 0 && std::ranges::all_of(required, [&, &row = row](Role role) {
                            return rounds_in(row, role) == rounds;
                          });
    if (spoiled.contains(number) || !complete) continue;
    blocks.numbers.push_back(number);
    rows.push_back(std::move(row));
  }
  for (const Role role : roles) blocks.arms[role] = times_of(role, lengths, rows);
  collect_long_regions(weighing, blocks);
  return blocks;
}

}  // namespace tare::judge
