#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "report/table.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

Row served(double ratio, judge::Interval interval) {
  return samples::printed_row(ratio, interval, judge::Verdict::kWin, judge::Decision::kServe);
}

Row refused(const char* cause, const char* sentence) {
  Row row = samples::printed_row(1.1, {0.9, 1.2}, judge::Verdict::kRefused, judge::Decision::kKeep);
  row.judgement.cause = cause;
  row.judgement.cause_sentence = sentence;
  return row;
}

std::string foot_of(std::vector<Row> rows, const TableStyle& style = {}) {
  return table_foot({samples::header(), std::move(rows), Footer{48.2, false}, {}}, style);
}

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

TEST(Foot, SaysWhichLimitsWereMeasured) {
  Row other = served(1.25, {1.2, 1.3});
  other.judgement.stream_bytes_per_second = 45.3e9;
  other.judgement.control_ratio = 1.012;
  EXPECT_TRUE(contains(foot_of({served(1.25, {1.2, 1.3}), other}),
                       "stream 43.3 GB/s, bf16 0.47 TFLOP/s. The incumbent weighed against itself: "
                       "at most 1.2 % apart.\n"));
}

// q/o holds 56 * 1536 * 1536 = 132,120,576 of 1,500,000,000 elements: 8.8 %. A candidate 1.25 times
// as fast saves a fifth of its time, so 0.2 * 8.808 % = 1.76 % of the token when the rest runs at
// the same GB/s; the edges likewise.
TEST(Foot, ServingIsCountedForTheWeighedShareAlone) {
  const std::string foot = foot_of({served(1.25, {1.2, 1.3})});
  EXPECT_TRUE(contains(foot, "Qwen2.5-1.5B: q/o hold 8.8 % of the weights that a token reads."));
  EXPECT_TRUE(contains(foot, "at 1 row: 1.8 % less time [1.5, 2.0]."));
  EXPECT_TRUE(contains(foot, "Only what was weighed is counted"));
}

TEST(Foot, NothingToServeIsSaid) {
  const std::string foot = foot_of({refused("overhead", "31 % is not kernel")});
  EXPECT_TRUE(contains(foot, "No row of it is marked serve."));
  EXPECT_EQ(foot.find("Only what was weighed"), std::string::npos);
}

TEST(Foot, EachCauseIsExplainedOnce) {
  const std::string foot = foot_of({refused("overhead", "31 % of a region is not kernel"),
                                    refused("overhead", "44 % of a region is not kernel"),
                                    refused("control", "the control is 4 % off")});
  EXPECT_TRUE(
      contains(foot,
               "2 rows refused: overhead. First, Qwen2.5-1.5B q/o 1536×1536, 1 row: 31 % of "
               "a region is not kernel\n"));
  EXPECT_TRUE(contains(foot,
                       "1 row refused: control. Qwen2.5-1.5B q/o 1536×1536, 1 row: the control is "
                       "4 % off\n"));
  EXPECT_EQ(foot.find("44 %"), std::string::npos);
}

TEST(Foot, AFailureIsNotExplainedTwice) {
  EXPECT_EQ(foot_of({samples::failed_row("it crashed")}).find("it crashed"), std::string::npos);
}

TEST(Foot, NamesAbsentLibraries) {
  EXPECT_TRUE(contains(foot_of({}), "Absent: MLX (libmlx.so was not found).\n"));
}

TEST(Foot, NamesWhatIsFetchedOnRequestWhereAllIsAskedFor) {
  Results results{samples::header(), {}, Footer{}, {}};
  results.header.libraries = {
      {.arm = "mkl", .title = "MKL", .found = false, .reason = "not fetched", .on_request = true}};
  const std::string brief = table_foot(results, {});
  EXPECT_TRUE(contains(brief, "More incumbents: ./tare incumbents\n"));
  EXPECT_FALSE(contains(brief, "Absent"));
  const std::string whole = table_foot(results, {.all = true});
  EXPECT_TRUE(contains(whole, "Absent: MKL (not fetched).\n"));
  EXPECT_FALSE(contains(whole, "More incumbents"));
}

TEST(Foot, ExplainsMarksAndTrades) {
  Row row = served(1.25, {1.2, 1.3});
  row.weighing.arms[0].dispatched.threads = 1;
  row.judgement.decision = judge::Decision::kTrade;
  const std::string foot = foot_of({row});
  EXPECT_TRUE(contains(foot, "* oneDNN 2.6.3 took 1 of the 2 threads it was offered"));
  EXPECT_TRUE(contains(foot, "trade: faster, but with other bits"));
}

TEST(Foot, SaysHowItEndedAndWhatMoreThereIs) {
  EXPECT_TRUE(contains(foot_of({served(1.25, {1.2, 1.3})}), "1 row in 48 s. More: --all shows"));
  EXPECT_EQ(foot_of({}, {.all = true}).find("--all"), std::string::npos);
  EXPECT_TRUE(contains(table_foot({samples::header(), {}, std::nullopt, {}}, {}),
                       "The run was cut short after 0 rows.\n"));
  EXPECT_TRUE(contains(table_foot({samples::header(), {}, Footer{3, true}, {}}, {}),
                       "Interrupted after 0 rows.\n"));
}

TEST(Foot, ABareShapeHasNoToken) {
  Results results{samples::header(), {served(1.25, {1.2, 1.3})}, Footer{}, {}};
  results.header.models[0].projections = {{"-", 1536, 1536, 1, ""}};
  results.rows[0].projection = std::string("-");
  EXPECT_EQ(table_foot(results, {}).find("token"), std::string::npos);
}

// A library that loses by a factor of its own making is named with it, beside what was won.
TEST(Foot, AWeakIncumbentIsNamedBesideTheWins) {
  Row won = samples::printed_row(20, {19, 21}, judge::Verdict::kWin, judge::Decision::kServe);
  won.weighing.arms[0].title = "MLX 0.32.4";
  won.weighing.arms[0].dispatched.threads = 1;
  std::strcpy(won.weighing.arms[0].dispatched.isa, "x86-64 baseline");
  Row more = won, lost = won;
  more.judgement.ratio = 55;
  lost.judgement.verdict = judge::Verdict::kLoss;
  const std::string foot =
      table_foot({samples::header(), {won, more, lost}, Footer{1, false}, {}}, {});
  EXPECT_THAT(foot,
              testing::HasSubstr(
                  "* MLX 0.32.4 took 1 of the 2 threads it was offered and uses no vector "
                  "instructions beyond the x86-64 baseline: a weak incumbent, by its own "
                  "choice. Won against it: 2 of 3 rows (20.0x to 55.0x); a part of that is of "
                  "its own making.\n"));
}

}  // namespace
}  // namespace tare::report
