// What every gate's test does: judge a weighing, and look at one finding.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "judge/judge.h"
#include "tests/judge/synthetic.h"

namespace tare::judge::testing {

inline Finding finding_of(const std::string& gate, const weigh::Weighing& weighing,
                          const Rules& rules = {}) {
  const Judgement judgement = judge(weighing, rules);
  const auto found = std::find_if(judgement.gates.begin(), judgement.gates.end(),
                                  [&](const Finding& finding) { return finding.gate == gate; });
  if (found == judgement.gates.end()) throw std::logic_error("no gate " + gate);
  return *found;
}

inline void expect_passes(const std::string& gate, const weigh::Weighing& weighing) {
  const Finding finding = finding_of(gate, weighing);
  EXPECT_TRUE(finding.passed) << finding.sentence;
}

// The sentence must hold `words`: the number seen, the arm, or what to do.
inline void expect_fails(const std::string& gate, const weigh::Weighing& weighing,
                         const std::string& words) {
  const Finding finding = finding_of(gate, weighing);
  EXPECT_FALSE(finding.passed) << finding.seen << " of " << finding.allowed << " "
                               << finding.sentence;
  EXPECT_NE(finding.sentence.find(words), std::string::npos) << finding.sentence;
}

}  // namespace tare::judge::testing
