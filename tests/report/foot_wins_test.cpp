// What the foot says of wins that need a word, and of what is undecided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/table.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Row row_with(judge::Verdict verdict, double log_evidence = 20) {
  Row row = samples::printed_row(1.25, {1.2, 1.3}, verdict, judge::Decision::kKeep);
  row.judgement.log_evidence = log_evidence;
  return row;
}

std::string foot_of(std::vector<Row> rows) {
  return table_foot({samples::header(), std::move(rows), Footer{48.2, false}, {}}, {});
}

// e-BH (Wang and Ramdas 2022): with e-values sorted from the largest, the k first are rejected for
// the largest k with e_k >= K / (0.05 k). K = 4: the first must reach 80, two 40 each.
TEST(FootWins, WinsThatDoNotStandTogetherAreNamed) {
  const double fifty = 3.912, ninety = 4.4998, ten = 2.3026;
  const auto won = [](double evidence) { return row_with(judge::Verdict::kWin, evidence); };
  const Row undecided = row_with(judge::Verdict::kInconclusive, 0);
  EXPECT_THAT(foot_of({won(ninety), undecided, undecided, undecided}), Not(HasSubstr("e-BH")));
  EXPECT_THAT(foot_of({won(fifty), undecided, undecided, undecided}),
              HasSubstr("Won alone, but not together with the other rows: Qwen2.5-1.5B q/o "
                        "1536×1536, 1 row. Among 4 rows some may win by luck"));
  EXPECT_THAT(foot_of({won(fifty), won(fifty), undecided, undecided}), Not(HasSubstr("e-BH")));
  Row weak = won(ten);
  weak.projection = "k/v";
  const std::string foot = foot_of({won(fifty), won(fifty), weak, undecided});
  EXPECT_THAT(foot, HasSubstr("other rows: Qwen2.5-1.5B k/v 1536×1536, 1 row. Among"));
}

TEST(FootWins, AVerdictThatWasNotConfirmedIsNamed) {
  Row row = row_with(judge::Verdict::kInconclusive);
  row.judgement.unconfirmed = true;
  EXPECT_THAT(foot_of({row}), HasSubstr("Decided once, but not confirmed on 1 placements"));
  row.judgement.verdict = judge::Verdict::kRefused;
  EXPECT_THAT(foot_of({row}), Not(HasSubstr("not confirmed")));
}

TEST(FootWins, ADispatchWinIsNamed) {
  Row row = row_with(judge::Verdict::kWin);
  row.judgement.dispatch_win = true;
  EXPECT_THAT(foot_of({row}),
              HasSubstr("Dispatch win, kept: Qwen2.5-1.5B q/o 1536×1536, 1 row. Most of what is "
                        "gained is a cost per dispatch"));
}

TEST(FootWins, TheLeastUndecidedSaysHowLong) {
  Row near = row_with(judge::Verdict::kInconclusive), far = near, unknown = near;
  near.projection = "k/v";
  near.judgement.seconds_to_decide = 12;
  far.judgement.seconds_to_decide = 1200;
  const std::string foot = foot_of({far, near, unknown});
  EXPECT_THAT(foot, HasSubstr("2 rows inconclusive; the least undecided, Qwen2.5-1.5B k/v "
                              "1536×1536, 1 row: about 12.0 s more of regions would decide it "
                              "(--seconds-per-row).\n"));
  far.judgement.seconds_to_decide = 1e9;
  EXPECT_THAT(foot_of({far}), HasSubstr("more than an hour of regions"));
  EXPECT_THAT(foot_of({unknown}), Not(HasSubstr("undecided")));
}

TEST(FootWins, WhoElseIsAtWorkOnADeviceIsSaid) {
  Row row = row_with(judge::Verdict::kWin);
  row.judgement.gates.push_back({"noise", true, 0.9, 0.2, "others use the GPU"});
  row.weighing.device_states.resize(1);
  EXPECT_THAT(foot_of({row}), Not(HasSubstr("Not alone")));  // a processor's neighbour
  row.weighing.device_states.front().others_busy = 0.9;
  EXPECT_THAT(foot_of({row}), HasSubstr("Not alone: Qwen2.5-1.5B q/o 1536×1536, 1 row. Of the "
                                        "first: others use the GPU.\n"));
}

TEST(FootWins, MoreThanAPersonReadsIsCounted) {
  std::vector<Row> rows(7, row_with(judge::Verdict::kWin));
  for (Row& row : rows) row.judgement.dispatch_win = true;
  EXPECT_THAT(foot_of(rows), HasSubstr("; and 2 more. Most of what is gained"));
}

}  // namespace
}  // namespace tare::report
