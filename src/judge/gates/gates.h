// The gates: what must hold before a number is believed. One function and one file a gate;
// docs/how-sure.md has the table. Counts are judged by their median over blocks, so that one
// outlier never refuses a row; times by the interval of Rules::verdict_alpha, so that noise refuses
// at most that share of honest rows a gate.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "judge/evidence.h"

namespace tare::judge::gates {

Finding output(const Evidence& evidence);     // wrong, unwritten, non-finite, outside its buffer
Finding precision(const Evidence& evidence);  // further from fp64 than the problem's types explain
Finding identity(const Evidence& evidence);   // both arms ran the same kernel
Finding threads(const Evidence& evidence);   // unequal offers, or more threads at work than offered
Finding pages(const Evidence& evidence);     // huge pages on one side only
Finding overhead(const Evidence& evidence);  // a region is not its kernel, or nobody can tell
Finding floor(const Evidence& evidence);     // regions too short for the timer
Finding clocks(const Evidence& evidence);    // the arm's clock and the parent's disagree
Finding faults(const Evidence& evidence);    // page faults or new mappings inside regions
Finding awake(const Evidence& evidence);     // other arms' threads run inside a region
Finding ring(const Evidence& evidence);      // cold weights that are not cold
Finding limit(const Evidence& evidence);     // faster than the machine
Finding control(const Evidence& evidence);   // the incumbent differs from itself
Finding drift(const Evidence& evidence);     // the ratio moved while it was weighed
Finding noise(const Evidence& evidence);     // a note, never a refusal: the control shows harm

// All of them, in the order above: the first that failed is the cause of a refusal.
std::vector<Finding> check_all(const Evidence& evidence);

// The arms that a verdict compares, and all that have regions.
inline constexpr std::array kComparedRoles{weigh::Role::kIncumbent, weigh::Role::kControl,
                                           weigh::Role::kCandidate};
inline constexpr std::array kAllRoles{weigh::Role::kIncumbent, weigh::Role::kControl,
                                      weigh::Role::kCandidate, weigh::Role::kStream,
                                      weigh::Role::kPeak};

Finding passed(const char* gate, double seen, double allowed, std::string note = "");
Finding failed(const char* gate, double seen, double allowed, std::string sentence);
// The same finding, of a kind that bad luck may cause: the row is prepared anew and weighed again
// before it is refused.
Finding repeatable(Finding finding);

// "the candidate (oneDNN 2.6.3)", or "the candidate" when the weighing does not name it.
std::string name_of(const Evidence& evidence, weigh::Role role);

}  // namespace tare::judge::gates
