// What was asked, who took part, and what was recorded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "formats/weight_format.h"
#include "judge/blocks.h"
#include "judge/verdict.h"
#include "judge/words.h"
#include "report/details.h"
#include "report/explain_sections.h"
#include "report/text.h"

namespace tare::report::sections {
namespace {

using weigh::Role;

std::string title_of(const Row& row, Role role) {
  const weigh::Arm* arm = weigh::arm_of(row.weighing, role);
  return arm == nullptr ? fmt::format("the {}", weigh::to_string(role)) : printable(arm->title);
}

std::string residency_text(const Row& row) {
  if (row.weighing.residency == weigh::Residency::kHot) {
    return "Weights hot: a region reads one copy again and again";
  }
  const weigh::Arm* incumbent = weigh::arm_of(row.weighing, Role::kIncumbent);
  if (incumbent == nullptr) return "Weights cold";
  return fmt::format("Weights cold: an arm rotates through {}, the last-level cache holds {}",
                     judge::bytes(static_cast<double>(incumbent->ring_bytes)),
                     judge::bytes(static_cast<double>(row.weighing.last_level_cache_bytes)));
}

std::string name_of(const Screened& screened) {
  return printable(screened.title.empty() ? screened.arm : screened.title);
}

bool ran(const Screened& screened) {
  return screened.seconds_per_dispatch > 0 && screened.reason.empty();
}

// Why this one is the incumbent; `fastest` led the screening.
std::string choice_text(const Screened& incumbent, const Screened& fastest, std::size_t tried) {
  const std::string time = judge::duration(incumbent.seconds_per_dispatch);
  if (&incumbent == &fastest) {
    return fmt::format("{} is the incumbent: {} a dispatch, the fastest of {} that ran.",
                       name_of(incumbent), time, tried);
  }
  return fmt::format(
      "{} is the incumbent: {} a dispatch, {} the time of the fastest, {}; so short a look cannot "
      "tell the two apart, and the former was prepared already.",
      name_of(incumbent), time,
      ratio_text(incumbent.seconds_per_dispatch / fastest.seconds_per_dispatch), name_of(fastest));
}

std::string other_times(const Row& row, const Screened& incumbent, const Screened& fastest) {
  std::string others;
  for (const Screened& other : row.screened) {
    if (!ran(other) || &other == &incumbent) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", name_of(other),
                          ratio_text(other.seconds_per_dispatch / fastest.seconds_per_dispatch));
  }
  return others.empty() ? others : " The others, in times of the fastest: " + others + '.';
}

// The entry of the row's incumbent; null when it was not screened.
const Screened* screened_incumbent(const Row& row) {
  const weigh::Arm* incumbent = weigh::arm_of(row.weighing, Role::kIncumbent);
  if (incumbent == nullptr) return nullptr;
  const auto found = std::ranges::find_if(row.screened, [&](const Screened& screened) {
    return ran(screened) && screened.arm == incumbent->name;
  });
  return found == row.screened.end() ? nullptr : &*found;
}

std::string arm_text(const weigh::Arm& arm) {
  if (weigh::is_limit(arm.role)) return ran_as(arm);
  std::string text = arm.role == Role::kControl
                         ? "the incumbent again, on memory of its own"
                         : fmt::format("{}; a slot takes {} and {} to prepare", ran_as(arm),
                                       judge::duration(arm.prepare_seconds),
                                       judge::bytes(static_cast<double>(arm.prepared_bytes)));
  return text + fmt::format("; ring of {} slots, {}, {} on huge pages", arm.ring_slots,
                            judge::bytes(static_cast<double>(arm.ring_bytes)),
                            judge::percent(arm.huge_page_share));
}

std::string bits_sentence(const weigh::Proof& proof) {
  if (proof.differing == 0) {
    return fmt::format("{} outputs of incumbent and candidate compared bit by bit: all equal.",
                       proof.elements);
  }
  return fmt::format(
      "{} of {} outputs of the candidate have other bits than the incumbent's, by at "
      "most {} steps of their type.",
      proof.differing, proof.elements, proof.max_ulp);
}

// "all equal", or where they differ.
std::string rows_found(const weigh::RowProof& rows) {
  std::string list;
  const auto add = [&list](std::uint64_t count, const char* where) {
    if (count > 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, where);
  };
  add(rows.by_count, "beside as many rows as are dispatched");
  add(rows.by_position, "at another place among them");
  add(rows.by_neighbours, "beside rows of NaN, infinite, huge or subnormal values");
  return list.empty() ? "all equal" : "other bits in " + list;
}

std::string rows_sentence(const Row& row, judge::Equality asked) {
  const weigh::RowProof& rows = row.weighing.proof.rows;
  if (rows.elements == 0)
    return rows.failure.empty() ? "" : " Row by row nothing: " + printable(rows.failure);
  const bool own = asked == judge::Equality::kSelf;
  return fmt::format(
      " Row by row, on one slot of weights: {} outputs of the candidate against {} one-row results "
      "of the same rows, {}: {}.",
      rows.elements, own ? "its own" : title_of(row, Role::kIncumbent) + "'s",
      own ? "at this row count and at others" : "at this row count", rows_found(rows));
}

std::string bounded_sentence(const weigh::Proof& proof) {
  const judge::ErrorBound bound = judge::not_worse(proof);
  return fmt::format(
      " Not worse is at most {:.3g} and {:.3g} here: the incumbent's, and what drawing {} of the "
      "outputs leaves open.",
      bound.max, bound.rms, proof.oracle_elements);
}

std::string equality_sentence(const Row& row, judge::Equality asked) {
  switch (asked) {
    case judge::Equality::kIncumbent:
      return {};
    case judge::Equality::kOneRow:
    case judge::Equality::kSelf:
      return rows_sentence(row, asked);
    case judge::Equality::kBounded:
      return row.weighing.proof.oracle_elements > 0 ? bounded_sentence(row.weighing.proof) : "";
  }
  return {};
}

// What is asked of a candidate's outputs, beside speed.
const char* demand_text(judge::Equality asked) {
  switch (asked) {
    case judge::Equality::kIncumbent:
      return "Served with the incumbent's bits only.";
    case judge::Equality::kOneRow:
      return "Served only if every row has the bits of the incumbent's one-row result (--equality "
             "one-row).";
    case judge::Equality::kSelf:
      return "Served only if the bits of a row do not depend on what is dispatched with it "
             "(--equality self).";
    case judge::Equality::kBounded:
      return "Served only if it is no farther from fp64 than the incumbent (--equality bounded).";
  }
  return "";
}

std::string wrong_sentence(const weigh::Proof& proof) {
  std::string list;
  const auto add = [&list](std::uint64_t count, const char* what) {
    if (count > 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, what);
  };
  add(proof.class_mismatch, "NaN or infinite on one side only");
  add(proof.candidate_non_finite, "not finite");
  add(proof.unwritten, "never written");
  if (proof.wrote_outside)
    list += (list.empty() ? "" : ", ") + std::string("bytes outside written");
  return list.empty() ? list : " The candidate's: " + list + '.';
}

std::string error_sentence(const weigh::Proof& proof) {
  if (proof.oracle_elements == 0) return {};
  return fmt::format(
      " Against fp64, in bf16 steps, largest and rms error: incumbent {:.3g} and {:.3g}, candidate "
      "{:.3g} and {:.3g}.",
      proof.incumbent_error_max, proof.incumbent_error_rms, proof.candidate_error_max,
      proof.candidate_error_rms);
}

std::size_t measured(const std::vector<double>& values) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [](double value) { return !std::isnan(value); }));
}

std::size_t blocks_begun(const weigh::Weighing& placement) {
  std::set<std::uint32_t> numbers;
  for (const weigh::Region& region : placement.regions) numbers.insert(region.block);
  return numbers.size();
}

// "24 blocks of 5 rounds, each a region of 51 dispatches an arm; 9 long regions of 1271".
std::string blocks_text(const weigh::Weighing& placement) {
  const judge::Blocks blocks = judge::arrange(placement);
  const auto incumbent = blocks.arms.find(Role::kIncumbent);
  if (blocks.count() == 0 || incumbent == blocks.arms.end()) return "no complete block";
  const judge::ArmTimes& times = incumbent->second;
  std::string text = fmt::format("{} blocks of {} rounds, regions of {} dispatches", blocks.count(),
                                 times.round_seconds.front().size(), times.round_dispatches);
  const auto add = [&text](std::size_t count, const std::string& what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(measured(times.long_seconds), fmt::format("long regions of {}", times.long_dispatches));
  add(measured(times.half_ring_seconds), "with rounds on half the ring");
  add(measured(times.slice_many_seconds), "blocks with slices");
  const std::size_t begun = blocks_begun(placement);
  if (begun > blocks.count()) {
    text +=
        fmt::format("; {} blocks left out for all arms: a region is missing or its time is none",
                    begun - blocks.count());
  }
  return text;
}

std::string placement_text(const weigh::Weighing& weighing, std::uint32_t index) {
  const weigh::Placement& placement = weighing.placements[index];
  std::string text = fmt::format("placement {}{}: {}; {} of weights a long region", index + 1,
                                 placement.fresh_processes ? ", in fresh processes" : "",
                                 blocks_text(weigh::of_placement(weighing, index)),
                                 judge::bytes(placement.traffic));
  if (!placement.set_aside.empty()) {
    text += fmt::format(". Set aside: the gate '{}' refused it, and it was weighed again",
                        printable(placement.set_aside));
  }
  return text;
}

std::string precision_text(const tare_problem& problem) {
  const std::string bias =
      problem.bias == 0 ? "" : fmt::format(" and a bias of {}", formats::type_name(problem.bias));
  if (problem.weights == problem.activations)
    return std::string(formats::type_name(problem.weights)) + bias;
  return fmt::format("{} weights and {} activations{}", formats::type_name(problem.weights),
                     formats::type_name(problem.activations), bias);
}

}  // namespace

void asked(const Row& row, const judge::Rules& rules, Sheet& sheet) {
  const tare_problem& problem = row.weighing.problem;
  sheet.paragraph(
      "Asked",
      fmt::format("Is {} faster than the fastest {} here, at {} and {} a dispatch, in "
                  "{}, with {} threads? {}. {}. {}",
                  title_of(row, Role::kCandidate),
                  row.weighing.chain.empty() ? "implementation" : "library for all of a token",
                  shape_text(row.weighing) + (row.weighing.chain.empty() ? " (k×n)" : ""),
                  rows_text(problem.rows), precision_text(problem), row.weighing.threads,
                  residency_text(row),
                  row.weighing.mode == weigh::Mode::kPerCall
                      ? "Preparing is inside every region"
                      : "Preparing is done before, and priced apart",
                  demand_text(rules.equality)));
}

void screened(const Row& row, Sheet& sheet) {
  if (row.screened.empty()) return;
  const auto tried = static_cast<std::size_t>(std::ranges::count_if(row.screened, ran));
  const Screened* incumbent = screened_incumbent(row);
  if (incumbent == nullptr) {
    sheet.paragraph("Screened",
                    fmt::format("{} of {} implementations ran.", tried, row.screened.size()));
  } else {
    const Screened& fastest = *std::ranges::find_if(row.screened, ran);
    sheet.paragraph("Screened",
                    choice_text(*incumbent, fastest, tried) +
                        other_times(row, *incumbent, fastest) +
                        " These times are of the screening alone: the pick must not bias the "
                        "verdict.");
  }
  for (const Screened& other : row.screened) {
    if (!ran(other)) sheet.item("", name_of(other) + " did not: " + printable(other.reason));
  }
}

void prepared(const Row& row, Sheet& sheet) {
  const char* title = "Prepared";
  for (const weigh::Arm& arm : row.weighing.arms) {
    sheet.item(title, fmt::format("{}: {}", weigh::to_string(arm.role), arm_text(arm)));
    title = "";
  }
}

void proved(const Row& row, const judge::Rules& rules, Sheet& sheet) {
  const weigh::Proof& proof = row.weighing.proof;
  sheet.paragraph("Proved", proof.done && proof.elements > 0
                                ? bits_sentence(proof) + wrong_sentence(proof) +
                                      error_sentence(proof) + equality_sentence(row, rules.equality)
                                : "Nothing: the outputs were not compared.");
}

void samples(const Row& row, Sheet& sheet) {
  const weigh::Weighing& weighing = row.weighing;
  if (weighing.regions.empty()) {
    sheet.paragraph("Samples", "None.");
    return;
  }
  sheet.paragraph("Samples",
                  fmt::format("{} regions, each timed by the arm host and from outside, all in the "
                              "file. A round is one region of incumbent, control and candidate, in "
                              "random order.",
                              weighing.regions.size()));
  for (std::uint32_t index = 0; index < weighing.placements.size(); ++index) {
    sheet.item("", placement_text(weighing, index));
  }
}

}  // namespace tare::report::sections
