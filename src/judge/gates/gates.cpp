#include "judge/gates/gates.h"

#include <fmt/format.h>

#include <utility>

namespace tare::judge::gates {

std::vector<Finding> check_all(const Evidence& evidence) {
  using Gate = Finding (*)(const Evidence&);
  constexpr std::array<Gate, 15> kGates{output,   precision, identity, threads, pages,
                                        overhead, floor,     clocks,   faults,  awake,
                                        ring,     limit,     control,  drift,   noise};
  std::vector<Finding> findings;
  findings.reserve(kGates.size());
  for (const Gate gate : kGates) findings.push_back(gate(evidence));
  return findings;
}

Finding passed(const char* gate, double seen, double allowed, std::string note) {
  return {gate, true, seen, allowed, std::move(note), false, false};
}

Finding failed(const char* gate, double seen, double allowed, std::string sentence) {
  return {gate, false, seen, allowed, std::move(sentence), false, false};
}

Finding repeatable(Finding finding) {
  finding.curable_by_repeating = true;
  return finding;
}

std::string name_of(const Evidence& evidence, weigh::Role role) {
  const weigh::Arm* arm = weigh::arm_of(evidence.weighing, role);
  if (arm == nullptr || arm->title.empty()) return fmt::format("the {}", to_string(role));
  return fmt::format("the {} ({})", to_string(role), arm->title);
}

}  // namespace tare::judge::gates
