#include "report/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/text.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Results results_of(std::vector<Row> rows) {
  Results results{samples::header(), std::move(rows), Footer{3, false}, {}};
  for (Row& row : results.rows) row.judgement = judge::judge(row.weighing, results.header.rules);
  return results;
}

// Without line breaks, so that a test does not hang on where they fall.
std::string told(const Results& results, std::size_t row = 0, const TableStyle& style = {}) {
  std::istringstream words(explanation(results, row, style));
  std::string text;
  for (std::string word; words >> word;) text += word + ' ';
  return text;
}

std::string told(Row row) {
  return told(results_of({std::move(row)}));
}

// Another placement: the same samples once more.
void add_placement(weigh::Weighing& weighing) {
  const std::vector<weigh::Region> once = weighing.regions;
  const auto number = static_cast<std::uint32_t>(weighing.placements.size());
  weighing.placements.push_back(weighing.placements.front());
  for (weigh::Region region : once) {
    if (region.placement != 0) continue;
    region.placement = number;
    weighing.regions.push_back(region);
  }
}

TEST(Explain, WalksThroughAWin) {
  const std::string text = told(samples::judged_row({.overhead_seconds = 20e-6}));
  EXPECT_THAT(text, HasSubstr("Row 1 of 1: Qwen2.5-1.5B q/o 1536×1536, 1 row"));
  EXPECT_THAT(text, HasSubstr("Is Tare CPU 0.1.0 faster than the fastest implementation here, at "
                              "1536×1536 (k×n) and 1 row a dispatch, in bf16, with 2 threads?"));
  EXPECT_THAT(text, HasSubstr("Weights cold: an arm rotates through 1.04 GB, the last-level cache "
                              "holds 33.6 MB."));
  EXPECT_THAT(text, HasSubstr("oneDNN 2.6.3 is the incumbent: 150 µs a dispatch, the fastest of 2 "
                              "that ran. The others, in times of the fastest: ggml 0.25 3.000x."));
  EXPECT_THAT(text, HasSubstr("OpenBLAS 0.3.21 did not: it has no bf16 product on this machine"));
  EXPECT_THAT(text, HasSubstr("candidate: Tare CPU 0.1.0, panel64, AVX-512 BF16, 2 threads; a slot "
                              "takes 333 ms and 4.72 MB to prepare; ring of 221 slots, 1.04 GB, "
                              "100 % on huge pages"));
  EXPECT_THAT(text, HasSubstr("control: the incumbent again, on memory of its own"));
  EXPECT_THAT(text, HasSubstr("4096 outputs of incumbent and candidate compared bit by bit: all "
                              "equal."));
  EXPECT_THAT(text, HasSubstr("placement 1: 40 blocks of 5 rounds, regions of 10 dispatches"));
  EXPECT_THAT(text, HasSubstr("incumbent: t = 150 µs"));
  EXPECT_THAT(text, HasSubstr("paired median 1.250x, mean 1.2"));
  EXPECT_THAT(text, HasSubstr("95 %: [1.2"));
  EXPECT_THAT(text, HasSubstr("either half would ever reach 100 with probability 1.0 % at most"));
  EXPECT_THAT(text, HasSubstr("rounds: enough after 15, win"));
  EXPECT_THAT(text, HasSubstr("Nothing says that it differs from itself."));
  EXPECT_THAT(text, HasSubstr("Gates passed, seen of allowed: output"));
  EXPECT_THAT(text, HasSubstr("Verdict win: the candidate is faster"));
  EXPECT_THAT(text, HasSubstr("Decision serve: it wins with the incumbent's bits."));
  EXPECT_THAT(text, HasSubstr("Next Nothing."));
}

TEST(Explain, LinesFitATerminalAndHaveNoColourUnlessAsked) {
  const Results results = results_of({samples::judged_row({})});
  std::istringstream lines(explanation(results, 0, {}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
  EXPECT_THAT(explanation(results, 0, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(explanation(results, 0, {.colour = true}), HasSubstr("\x1b[32mwin"));
}

TEST(Explain, TheOverheadThatTheNaiveNumberHidesIsTold) {
  const std::string text = told(samples::judged_row({.overhead_seconds = 5e-3}));
  EXPECT_THAT(text, HasSubstr("Naive 1.209x"));  // (31.8 + 5) / (25.4 + 5) ms
  EXPECT_THAT(text, HasSubstr("14 % of the incumbent's and 16 % of the candidate's. Without it: "
                              "1.250x."));
  EXPECT_THAT(text, HasSubstr("failed: overhead"));
  EXPECT_THAT(text, HasSubstr("Verdict refused(overhead): a gate failed"));
  EXPECT_THAT(text, HasSubstr("Next Do as the gate's sentence says"));
}

TEST(Explain, OtherBitsAreATrade) {
  const std::string text = told(samples::judged_row({.differing = 9}));
  EXPECT_THAT(text, HasSubstr("9 of 4096 outputs of the candidate have other bits"));
  EXPECT_THAT(
      text,
      HasSubstr("Decision trade: it wins, but with other bits than the incumbent's: serve it"));
}

TEST(Explain, TheEqualityThatWasAskedForIsToldInWords) {
  Row row = samples::judged_row({.differing = 9});
  row.weighing.proof.rows = {weigh::Role::kCandidate, 100, 0, 0, 0, ""};
  const auto told_under = [&](judge::Equality asked) {
    Results results{samples::header(), {row}, {}, {}};
    results.header.rules.equality = asked;
    results.rows[0].judgement = judge::judge(row.weighing, results.header.rules);
    return told(results);
  };
  EXPECT_THAT(
      told_under(judge::Equality::kSelf),
      AllOf(HasSubstr("Served only if the bits of a row do not depend on what is dispatched "
                      "with it (--equality self)."),
            HasSubstr("100 outputs of the candidate against its own one-row results"),
            HasSubstr("others: all equal. "),
            HasSubstr("Decision serve: it wins, and the bits of a row depend on nothing")));
  EXPECT_THAT(told_under(judge::Equality::kOneRow),
              HasSubstr("Decision keep: it wins, but the equality asked for was not proved."));
  row.weighing.proof.rows = {weigh::Role::kIncumbent, 100, 3, 0, 2, ""};
  EXPECT_THAT(
      told_under(judge::Equality::kOneRow),
      AllOf(HasSubstr("against oneDNN 2.6.3's one-row results of the same rows, at this row "
                      "count: other bits in 3 beside as many rows as are dispatched, 2 "
                      "beside rows of NaN"),
            HasSubstr("Decision trade: it wins, but its rows have other bits")));
  EXPECT_THAT(told_under(judge::Equality::kBounded),
              AllOf(HasSubstr("and what drawing 64 of the outputs leaves open."),
                    HasSubstr("Decision serve: it wins, and is no farther from fp64")));
}

TEST(Explain, ALossAndEquality) {
  EXPECT_THAT(told(samples::judged_row({.candidate_seconds = 160e-6})),
              HasSubstr("Verdict loss: the candidate is slower"));
  const std::string equal = told(samples::judged_row({.candidate_seconds = 150e-6}));
  EXPECT_THAT(equal, HasSubstr("Verdict equivalent: the difference is below 1.0 %"));
  EXPECT_THAT(equal, HasSubstr("(against differences of 1.0 % on either side)"));
}

TEST(Explain, PlacementsAreToldAndThoseSetAsideWithTheirGate) {
  Row row = samples::judged_row({});
  add_placement(row.weighing);
  add_placement(row.weighing);
  row.weighing.placements[0].set_aside = "ring";
  row.weighing.placements[2].fresh_processes = true;
  const std::string text = told(std::move(row));
  EXPECT_THAT(text, HasSubstr("Set aside: the gate 'ring' refused it"));
  EXPECT_THAT(text, HasSubstr("placement 3, in fresh processes: 40 blocks"));
  EXPECT_THAT(text, HasSubstr("placement 2: "));
  EXPECT_THAT(text, HasSubstr("Around those of 2 placements"));
}

TEST(Explain, AVerdictThatWasNotConfirmed) {
  Results results = results_of({samples::judged_row({})});
  results.header.rules.verdict_placements = 2;
  results.rows[0].judgement = judge::judge(results.rows[0].weighing, results.header.rules);
  const std::string text = told(results);
  EXPECT_THAT(text, HasSubstr("Verdict inconclusive: it was decided on 1 placements of the 2"));
  EXPECT_THAT(text, HasSubstr("Next Weigh it again"));
}

TEST(Explain, TooFewSamplesAreNoVerdictOfEquality) {
  const std::string text = told(samples::judged_row({.blocks = 1}));
  EXPECT_THAT(text, HasSubstr("not enough"));
  EXPECT_THAT(text, HasSubstr("This is no verdict of equality."));
}

TEST(Explain, AFailureIsTold) {
  const std::string text = told(samples::failed_row("the host crashed in \x1b[1menqueue"));
  EXPECT_THAT(text, HasSubstr("Samples None."));
  EXPECT_THAT(text, HasSubstr("Verdict refused(failed): the host crashed in [1menqueue"));
  EXPECT_THAT(text, HasSubstr("Next Mend what failed"));
}

TEST(Explain, AnIncumbentThatWasNotTheFastestIsExplained) {
  Row row = samples::judged_row({});
  row.screened[0].seconds_per_dispatch = 153e-6;
  row.screened.insert(row.screened.begin(), {"other", "Other 1.0", 150e-6, 31.2, ""});
  EXPECT_THAT(told(std::move(row)),
              HasSubstr("oneDNN 2.6.3 is the incumbent: 153 µs a dispatch, 1.020x the time of the "
                        "fastest, Other 1.0; so short a look cannot tell the two apart"));
}

// One e-value of 101 suffices for one row and not for the only win among a hundred: e-BH asks for
// 100 / 0.05.
TEST(Explain, AWinThatDoesNotStandAmongTheOthers) {
  Results results = results_of({samples::judged_row({})});
  results.rows[0].judgement.log_evidence = 4.62;
  for (int i = 0; i < 99; ++i) results.rows.push_back(samples::failed_row("it crashed"));
  EXPECT_THAT(told(results), HasSubstr("some win by luck (e-BH at 5.0 %)"));
}

}  // namespace
}  // namespace tare::report
