// The words a results file uses for enumerations. Written by the writer, understood by the reader;
// a word once used is never given another meaning (docs/results-schema.md).
#pragma once

#include "judge/judge.h"
#include "records/words.h"
#include "weigh/weighing.h"

namespace tare::report {

using records::word_for;
using records::Words;

inline constexpr Words<weigh::Role, 5> kRoles{{{weigh::Role::kIncumbent, "incumbent"},
                                               {weigh::Role::kControl, "control"},
                                               {weigh::Role::kCandidate, "candidate"},
                                               {weigh::Role::kStream, "stream"},
                                               {weigh::Role::kPeak, "peak"}}};
inline constexpr Words<weigh::Purpose, 6> kPurposes{{{weigh::Purpose::kRound, "round"},
                                                     {weigh::Purpose::kLong, "long"},
                                                     {weigh::Purpose::kHalfRing, "half-ring"},
                                                     {weigh::Purpose::kSliceOne, "slice-one"},
                                                     {weigh::Purpose::kSliceMany, "slice-many"},
                                                     {weigh::Purpose::kSliceTwice, "slice-twice"}}};
inline constexpr Words<weigh::Mode, 2> kModes{
    {{weigh::Mode::kPrepared, "prepared"}, {weigh::Mode::kPerCall, "per-call"}}};
inline constexpr Words<weigh::Residency, 2> kResidencies{
    {{weigh::Residency::kCold, "cold"}, {weigh::Residency::kHot, "hot"}}};
inline constexpr Words<weigh::Outputs, 4> kOutputs{{{weigh::Outputs::kUnchecked, "unchecked"},
                                                    {weigh::Outputs::kRight, "right"},
                                                    {weigh::Outputs::kWrong, "wrong"},
                                                    {weigh::Outputs::kNonFinite, "non-finite"}}};

inline constexpr Words<judge::Equality, 4> kEqualities{{{judge::Equality::kIncumbent, "incumbent"},
                                                        {judge::Equality::kOneRow, "one-row"},
                                                        {judge::Equality::kSelf, "self"},
                                                        {judge::Equality::kBounded, "bounded"}}};

inline constexpr Words<judge::Verdict, 5> kVerdicts{
    {{judge::Verdict::kWin, "win"},
     {judge::Verdict::kLoss, "loss"},
     {judge::Verdict::kEquivalent, "equivalent"},
     {judge::Verdict::kInconclusive, "inconclusive"},
     {judge::Verdict::kRefused, "refused"}}};
inline constexpr Words<judge::Decision, 3> kDecisions{{{judge::Decision::kServe, "serve"},
                                                       {judge::Decision::kKeep, "keep"},
                                                       {judge::Decision::kTrade, "trade"}}};
inline constexpr Words<judge::Bits, 3> kBits{{{judge::Bits::kEqual, "equal"},
                                              {judge::Bits::kDiffer, "differ"},
                                              {judge::Bits::kUnknown, "unknown"}}};
inline constexpr Words<judge::Bound, 2> kBounds{
    {{judge::Bound::kMemory, "memory"}, {judge::Bound::kCompute, "compute"}}};

constexpr const auto& words_of(judge::Verdict) {
  return kVerdicts;
}
constexpr const auto& words_of(judge::Decision) {
  return kDecisions;
}
constexpr const auto& words_of(judge::Bits) {
  return kBits;
}
constexpr const auto& words_of(judge::Bound) {
  return kBounds;
}
constexpr const auto& words_of(judge::Equality) {
  return kEqualities;
}
constexpr const auto& words_of(weigh::Role) {
  return kRoles;
}
constexpr const auto& words_of(weigh::Purpose) {
  return kPurposes;
}
constexpr const auto& words_of(weigh::Mode) {
  return kModes;
}
constexpr const auto& words_of(weigh::Residency) {
  return kResidencies;
}
constexpr const auto& words_of(weigh::Outputs) {
  return kOutputs;
}

constexpr std::string_view word_for_role(weigh::Role role) {
  return word_for(kRoles, role);
}

}  // namespace tare::report
