#include "report/serving.h"

#include <gtest/gtest.h>

#include "tests/report/samples.h"

namespace tare::report {
namespace {

// Two shapes that together are all of a token: 10 matrices of 100 elements, 20 of 50.
problem::Model model() {
  problem::Model model;
  model.name = "Model";
  model.projections = {{"a", 10, 10, 10, ""}, {"b", 10, 5, 20, ""}};
  model.weights_per_token = 2000;
  return model;
}

Row row(const char* projection, std::uint64_t n, std::uint32_t rows, double seconds, double ratio,
        judge::Decision decision) {
  Row row = samples::printed_row(ratio, {ratio - 0.1, ratio + 0.1}, judge::Verdict::kWin, decision);
  row.model = model().name;
  row.projection = std::string(projection);
  row.weighing.problem.k = 10;
  row.weighing.problem.n = n;
  row.weighing.problem.rows = rows;
  row.judgement.fits[weigh::Role::kIncumbent].per_dispatch = seconds;
  return row;
}

std::vector<ServingGain> gains_of(const problem::Model& model, const std::vector<Row>& rows) {
  return serving_gains(model, rows, std::vector<bool>(rows.size(), true));
}

TEST(Serving, ShareIsOfAllThatATokenReads) {
  const std::vector<Row> rows{row("a", 10, 1, 1, 2, judge::Decision::kKeep)};
  EXPECT_DOUBLE_EQ(weighed_share(model(), rows), 0.5);
  EXPECT_DOUBLE_EQ(weighed_share(model(), {}), 0);
  problem::Model unknown = model();
  unknown.weights_per_token = 0;
  EXPECT_DOUBLE_EQ(weighed_share(unknown, rows), 0);
}

// a: 10 * 3 s, b: 20 * 1 s: 50 s. Serving a at ratio 2 saves 15 s: 30 %.
TEST(Serving, AddsUpMatricesAndRowCounts) {
  const std::vector<Row> rows{row("a", 10, 1, 3, 2, judge::Decision::kServe),
                              row("b", 5, 1, 1, 2, judge::Decision::kKeep),
                              row("b", 5, 8, 1, 2, judge::Decision::kTrade)};
  const std::vector<ServingGain> gains = gains_of(model(), rows);
  ASSERT_EQ(gains.size(), 2u);
  EXPECT_EQ(gains[0].rows, 1u);
  EXPECT_EQ(gains[0].served, 1u);
  EXPECT_DOUBLE_EQ(gains[0].saved, 0.3);
  EXPECT_DOUBLE_EQ(gains[0].interval.low, 0.6 * (1 - 1 / 1.9));
  EXPECT_DOUBLE_EQ(gains[0].interval.high, 0.6 * (1 - 1 / 2.1));
  EXPECT_EQ(gains[1].served, 0u);
  EXPECT_DOUBLE_EQ(gains[1].saved, 0);
}

// Only a is weighed: half of the elements. The other half is taken to need as long, unchanged.
TEST(Serving, WhatWasNotWeighedIsNotGained) {
  const std::vector<Row> rows{row("a", 10, 1, 3, 2, judge::Decision::kServe)};
  EXPECT_DOUBLE_EQ(gains_of(model(), rows).at(0).saved, 0.25);
}

// Half of the elements in 4 bits (18 bytes for 32), the other half in 16: by bytes 0.22 and 0.78.
TEST(Serving, ShareIsOfBytesAndNotOfElements) {
  problem::Model mixed = model();
  mixed.projections = {{"a", 32, 10, 1, "Q4_0", "q4_0"}, {"b", 32, 10, 1, "BF16", "bf16"}};
  mixed.weights_per_token = 640;
  mixed.bytes_per_token = 10 * 18 + 320 * 2;
  Row quantised = row("a", 10, 1, 1, 2, judge::Decision::kServe);
  quantised.weighing.problem.k = 32;
  quantised.weighing.problem.weights = TARE_GGUF_Q4_0;
  EXPECT_DOUBLE_EQ(weighed_share(mixed, {quantised}), 180.0 / 820);
  // Half of the time of 180 of 820 bytes is saved.
  EXPECT_DOUBLE_EQ(gains_of(mixed, {quantised}).at(0).saved, 90.0 / 820);
}

// Two projections of one name and shape that a file stores in two types are two rows.
TEST(Serving, ARowIsOfTheTypeThatWasWeighed) {
  problem::Model mixed = model();
  mixed.projections = {{"a", 32, 10, 3, "Q4_0", "q4_0"}, {"a", 32, 10, 1, "Q8_0", "q8_0"}};
  mixed.bytes_per_token = 3 * 180 + 340;
  Row quantised = row("a", 10, 1, 1, 2, judge::Decision::kServe);
  quantised.weighing.problem.k = 32;
  quantised.weighing.problem.weights = TARE_GGUF_Q8_0;
  EXPECT_DOUBLE_EQ(weighed_share(mixed, {quantised}), 340.0 / 880);
}

TEST(Serving, AWinThatDoesNotStandIsNotServed) {
  const std::vector<Row> rows{row("a", 10, 1, 3, 2, judge::Decision::kServe)};
  EXPECT_EQ(serving_gains(model(), rows, {false}).at(0).served, 0u);
  EXPECT_DOUBLE_EQ(serving_gains(model(), rows, {false}).at(0).saved, 0);
}

TEST(Serving, ARefusedRowIsNotBelieved) {
  std::vector<Row> rows{row("a", 10, 1, 3, 2, judge::Decision::kKeep)};
  rows[0].judgement.verdict = judge::Verdict::kRefused;
  EXPECT_TRUE(gains_of(model(), rows).empty());
}

}  // namespace
}  // namespace tare::report
