#include "report/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/report/samples.h"

namespace tare::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Four layers: q and o of 8x8, k of 8x4 and v of 8x4 in two of them, and a head of 8x100.
problem::Model model() {
  problem::Model model;
  model.name = "Model";
  model.projections = {{"q/o", 8, 8, 8, "", "bf16", {4, 4}},
                       {"k/v", 8, 4, 6, "", "bf16", {4, 2}},
                       {"lm_head", 8, 100, 1, "", "bf16", {1}}};
  model.bytes_per_token = 8 * 128 + 6 * 64 + 1600;
  return model;
}

Row row(const char* projection, std::uint64_t n, double seconds, double ratio) {
  Row row = samples::printed_row(ratio, {ratio - 0.1, ratio + 0.1}, judge::Verdict::kWin,
                                 judge::Decision::kServe);
  row.model = "Model";
  row.projection = projection;
  row.weighing.problem.k = 8;
  row.weighing.problem.n = n;
  row.judgement.fits[weigh::Role::kIncumbent].per_dispatch = seconds;
  row.judgement.fits[weigh::Role::kCandidate].per_dispatch = seconds / ratio;
  row.judgement.limit_seconds = seconds / 3;
  return row;
}

Results results_of(std::vector<Row> rows) {
  Results results{samples::header(), std::move(rows), Footer{3, false}, {}};
  results.header.models = {model()};
  results.header.rows = {1};
  return results;
}

// 8 x 1 ms + 6 x 2 ms + 5 ms: 25 ms.
Results whole() {
  return results_of(
      {row("q/o", 8, 1e-3, 2), row("k/v", 4, 2e-3, 1.25), row("lm_head", 100, 5e-3, 1)});
}

TEST(Budget, EveryNameHasItsOwnLine) {
  const Results results = whole();
  const std::vector<Budget> budgets = budgets_of(results);
  ASSERT_EQ(budgets.size(), 1u);
  std::vector<std::string> names;
  std::vector<double> seconds, bytes;
  for (const BudgetLine& line : budgets[0].lines) {
    names.push_back(line.name);
    seconds.push_back(line.seconds);
    bytes.push_back(line.bytes);
  }
  EXPECT_THAT(names, testing::ElementsAre("q", "k", "v", "o", "lm_head"));
  EXPECT_THAT(seconds, testing::Pointwise(testing::DoubleEq(),
                                          std::vector<double>{4e-3, 8e-3, 4e-3, 4e-3, 5e-3}));
  EXPECT_THAT(bytes, testing::ElementsAre(512, 256, 128, 512, 1600));
  EXPECT_DOUBLE_EQ(budgets[0].sum.seconds, 25e-3);
  EXPECT_EQ(budgets[0].sum.count, 15u);
  EXPECT_DOUBLE_EQ(budgets[0].sum.bytes, 8 * 128 + 6 * 64 + 1600);
}

// q and o at ratio 2 save half of 8 ms, k and v at 1.25 a fifth of 12 ms; the head at 1 nothing.
TEST(Budget, WhatServingGivesIsASumOfWhatIsServed) {
  Results results = whole();
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].sum.saved, 4e-3 + 2.4e-3);
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].sum.saved_interval.low,
                   8e-3 * (1 - 1 / 1.9) + 12e-3 * (1 - 1 / 1.15) + 5e-3 * (1 - 1 / 0.9));
  results.rows[0].judgement.decision = judge::Decision::kTrade;
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].sum.saved, 2.4e-3);
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].with_trades.saved, 6.4e-3);
  EXPECT_THAT(budget_text(results, {}),
              AllOf(HasSubstr("trade     (8.00 % [7.58, 8.38])\n"),
                    HasSubstr("With the rows marked trade (faster, but with other bits than the "
                              "incumbent's) the sum would lose 25.60 % [")));
  results.rows[1].judgement.log_evidence = 0;  // it does not stand among the three
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].sum.saved, 0);
}

TEST(Budget, ARefusedRowHasNoTimeAndIsNotGuessed) {
  Results results = whole();
  results.rows[1].judgement.verdict = judge::Verdict::kRefused;
  results.rows[1].judgement.cause = "noise";
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].sum.seconds, 13e-3);
  const std::string text = budget_text(results, {});
  EXPECT_THAT(text, HasSubstr("refused(noise)"));
  EXPECT_THAT(text, HasSubstr("12.8 % of the weights that a token reads have no time here"));
}

TEST(Budget, FilesThatDoNotSayHowManyOfEachNameHaveOneLineForAll) {
  Results results = whole();
  for (problem::Projection& projection : results.header.models[0].projections)
    projection.counts.clear();
  EXPECT_EQ(budgets_of(results)[0].lines.size(), 3u);
  EXPECT_DOUBLE_EQ(budgets_of(results)[0].sum.seconds, 25e-3);
}

Row chain_of(const Results& results, std::vector<std::uint64_t> counts) {
  Row chain = row("chain of 4 layers", 100, 26e-3, 1.3);
  for (std::size_t i = 0; i < counts.size(); ++i)
    chain.weighing.chain.push_back({results.rows[i].weighing.problem, counts[i]});
  return chain;
}

TEST(Budget, AChainStandsBesideTheSumOfItsParts) {
  Results results = whole();
  results.rows.push_back(chain_of(results, {4, 3, 1}));
  const Budget budget = budgets_of(results)[0];
  ASSERT_NE(budget.chain, nullptr);
  EXPECT_EQ(budget.lines.size(), 5u) << "a chain is no projection";
  const ChainSum sum = sum_of_parts(*budget.chain, results.rows);
  EXPECT_DOUBLE_EQ(sum.incumbent, 4e-3 + 6e-3 + 5e-3);
  EXPECT_DOUBLE_EQ(sum.candidate, 2e-3 + 4.8e-3 + 5e-3);
  const std::string text = budget_text(results, {});
  EXPECT_THAT(text,
              HasSubstr("Measured, chain of 4 layers (8 dispatches in order, each over "
                        "weights of its own, 2.30 kB): oneDNN 2.6.3 takes 26.0 ms, - 20.0 ms: "
                        "1.300x [1.200, 1.400], win."));
  EXPECT_THAT(text,
              HasSubstr("added up for the same matrices, each by the fastest of its row: 15.0 "
                        "ms and 11.8 ms, 1.271x.\n"));
  EXPECT_THAT(text, HasSubstr("Left out: attention"));
  // 2304 of 3008 bytes
  EXPECT_THAT(text,
              HasSubstr(" At the same rates all 3.01 kB would take 33.9 ms and 26.1 ms (scaled "
                        "by bytes, not measured)."));
  results.rows.back().weighing.chain = chain_of(results, {8, 6, 1}).weighing.chain;
  EXPECT_THAT(budget_text(results, {}), Not(HasSubstr("scaled")));
}

TEST(Budget, AChainAgainstItselfByPartsSaysWhatFusingGives) {
  Results results = whole();
  results.rows.push_back(chain_of(results, {8, 6, 1}));
  Row fusing = chain_of(results, {8, 6, 1});
  fusing.projection = "chain of 4 layers, fusing";
  std::vector<weigh::Arm>& arms = fusing.weighing.arms;
  std::erase_if(arms, [](const weigh::Arm& arm) { return arm.role == weigh::Role::kCandidate; });
  for (weigh::Arm& arm : arms)
    if (arm.role == weigh::Role::kIncumbent) arm.name = "mine-parts";
  arms.push_back({.role = weigh::Role::kCandidate, .name = "mine", .title = "Mine"});
  results.rows.push_back(fusing);
  const Budget budget = budgets_of(results)[0];
  EXPECT_EQ(budget.chain, &results.rows[3]);
  EXPECT_EQ(budget.fusing, &results.rows[4]);
  EXPECT_THAT(budget_text(results, {}),
              HasSubstr("Measured, chain of 4 layers, fusing (15 dispatches"));
}

TEST(Budget, ThePageSaysWhereTheTimeGoes) {
  const std::string text = budget_text(whole(), {});
  EXPECT_THAT(text, HasSubstr("Model, 1 row a step: 3.01 kB of weights a token\n"));
  EXPECT_THAT(text,
              HasSubstr("q           8×8    bf16      4  512 bytes   17.0 %  oneDNN 2.6.3  "
                        "4.00 ms   16.0 %  1.33 ms  2.000x  serve     8.00 % [7.58, 8.38]\n"));
  EXPECT_THAT(text, HasSubstr("25.60 % ["));
  EXPECT_THAT(text, HasSubstr("Chain: not measured.\n"));
  EXPECT_THAT(text, Not(HasSubstr("have no time here")));
}

}  // namespace
}  // namespace tare::report
