#include "weigh/weighing.h"

#include <algorithm>
#include <iterator>

#include "formats/weight_format.h"

namespace tare::weigh {
namespace {

template <typename Amount>
double sum_of_chain(const Weighing& weighing, Amount&& amount) {
  if (weighing.chain.empty()) return amount(weighing.problem);
  double sum = 0;
  for (const ChainPart& part : weighing.chain)
    sum += static_cast<double>(part.count) * amount(part.problem);
  return sum;
}

}  // namespace

double weight_bytes(const tare_problem& problem) {
  return formats::weight_bytes(problem.weights, problem.k, problem.n, problem.bias);
}

double operations(const tare_problem& problem) {
  return 2.0 * static_cast<double>(problem.k) * static_cast<double>(problem.n) *
         static_cast<double>(problem.rows);
}

double weight_bytes(const Weighing& weighing) {
  return sum_of_chain(weighing, [](const tare_problem& p) { return weight_bytes(p); });
}

double operations(const Weighing& weighing) {
  return sum_of_chain(weighing, [](const tare_problem& p) { return operations(p); });
}

double links(const Weighing& weighing) {
  return sum_of_chain(weighing, [](const tare_problem&) { return 1.0; });
}

const char* to_string(Role role) {
  switch (role) {
    case Role::kIncumbent:
      return "incumbent";
    case Role::kControl:
      return "control";
    case Role::kCandidate:
      return "candidate";
    case Role::kStream:
      return "stream";
    case Role::kPeak:
      return "peak";
  }
  return "unknown";
}

bool is_limit(Role role) {
  return role == Role::kStream || role == Role::kPeak;
}

const Arm* arm_of(const Weighing& weighing, Role role) {
  const auto found = std::ranges::find(weighing.arms, role, &Arm::role);
  return found == weighing.arms.end() ? nullptr : &*found;
}

// Regions are copied once each, however many placements there are.
Weighing of_placement(const Weighing& weighing, std::uint32_t placement) {
  Weighing part{weighing.problem,
                weighing.parts,
                weighing.chain,
                weighing.mode,
                weighing.residency,
                weighing.slice_columns,
                weighing.timer_floor_seconds,
                weighing.threads,
                weighing.last_level_cache_bytes,
                weighing.arms,
                weighing.placements,
                {},
                weighing.device_states,
                weighing.proof,
                weighing.failure};
  std::ranges::copy_if(weighing.regions, std::back_inserter(part.regions),
                       [&](const Region& region) { return region.placement == placement; });
  return part;
}

}  // namespace tare::weigh
