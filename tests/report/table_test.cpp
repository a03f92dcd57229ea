#include "report/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/report/samples.h"

namespace tare::report {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

Row win() {
  return samples::printed_row(1.2839, {1.2432, 1.3118}, judge::Verdict::kWin,
                              judge::Decision::kServe);
}

Row refused_for_overhead() {
  Row row = samples::printed_row(0.9934, {0.981, 1.004}, judge::Verdict::kRefused,
                                 judge::Decision::kKeep);
  row.judgement.cause = "overhead";
  row.judgement.cause_sentence = "31 % of a region is not kernel";
  row.judgement.fits[weigh::Role::kIncumbent].identifiable = true;
  row.judgement.fits[weigh::Role::kCandidate].identifiable = true;
  return row;
}

Header with_traffic(double traffic) {
  Header header = samples::header();
  header.traffic = traffic;
  return header;
}

std::string without_first_line(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

// The line of a row that stands alone in its table.
std::string row_line(const Row& row, const Header& header, const TableStyle& style) {
  return table_row({header, {row}, {}, {}}, 0, style);
}

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

TEST(Table, TitlesStandOverTheirColumns) {
  const Header header = samples::header();
  EXPECT_EQ(without_first_line(table_head(header, {})) + row_line(win(), header, {}),
            // clang-format off
"model         projection  k×n        rows  incumbent        GB/s  bound       gap   ratio  95 % interval   bits     verdict            decision\n"
"Qwen2.5-1.5B  q/o         1536×1536     1  oneDNN 2.6.3     31.2  memory    1.32x  1.284x  [1.243, 1.312]  equal    win                serve\n");
  // clang-format on
}

TEST(Table, FirstLineSaysWhereAndHow) {
  Header header = samples::header();
  const std::string where = device::summary(header.machine);
  EXPECT_TRUE(contains(table_head(header, {}),
                       where + " · bf16 · weights cold (ring 1.04 GB) · 1.00 GB of weights a "
                               "region\n"));
  header.residency = weigh::Residency::kHot;
  header.mode = weigh::Mode::kPerCall;
  EXPECT_TRUE(contains(table_head(header, {}), "weights hot (one slot a region)"));
  EXPECT_TRUE(contains(table_head(header, {}), "per call: preparing is in the region"));
}

TEST(Table, NotesOfAModelStandAboveTheTable) {
  Header header = samples::header();
  header.models[0].notes = {"mixture of experts: its experts are not yet weighed"};
  EXPECT_TRUE(contains(table_head(header, {}),
                       "Qwen2.5-1.5B: mixture of experts: its experts are not yet weighed\n"));
}

TEST(Table, WhatWasNotMeasuredIsADash) {
  const Row row = samples::printed_row(0, {0, kUnbounded}, judge::Verdict::kInconclusive,
                                       judge::Decision::kKeep);
  EXPECT_TRUE(contains(row_line(row, samples::header(), {}),
                       "1.32x       -  -               equal    inconclusive       keep\n"));
}

TEST(Table, AFailedRowSaysWhyUnderIt) {
  const Row row = samples::failed_row("the host of ggml crashed in\nprepare (signal 11)");
  EXPECT_EQ(row_line(row, samples::header(), {}),
            // clang-format off
"Qwen2.5-1.5B  k/v         1536×256      8  -                   -  -             -       -  -               -        refused(failed)    keep\n"
"    failed: the host of ggml crashed in prepare (signal 11)\n");
  // clang-format on
}

TEST(Table, TheNaiveRatioStandsBesideTheFittedOneWhenTrafficIsLow) {
  const Header header = with_traffic(64e6);
  EXPECT_TRUE(contains(table_head(header, {}), "   ratio   naive  95 % interval"));
  const std::string row = row_line(refused_for_overhead(), header, {});
  EXPECT_TRUE(contains(row, "0.993x  1.828x  [0.981, 1.004]"));
  EXPECT_TRUE(contains(row, "refused(overhead)  keep\n"));
  EXPECT_EQ(row.find("naive"), std::string::npos);
}

TEST(Table, ARowRefusedForOverheadShowsTheNaiveRatioUnderIt) {
  const Header header = samples::header();
  Row row = refused_for_overhead();
  EXPECT_TRUE(contains(row_line(row, header, {}),
                       "\n    naive ratio 1.828x (mean region time), fitted 0.993x\n"));
  row.judgement.fits[weigh::Role::kCandidate].identifiable = false;
  EXPECT_TRUE(contains(row_line(row, header, {}), "fitted not identifiable\n"));
}

TEST(Table, AllShowsTheOtherIncumbents) {
  const Header header = samples::header();
  const std::string text = row_line(samples::judged_row({}), header, {.all = true});
  EXPECT_TRUE(contains(text, "ggml 0.25        10.4  3.000x the time of the fastest"));
  EXPECT_TRUE(contains(text, "OpenBLAS 0.3.21       -  it has no bf16 product on this machine\n"));
  EXPECT_TRUE(contains(text,
                       "    incumbent  oneDNN 2.6.3, brg:avx512_core_bf16, AVX-512 BF16, 2 "
                       "threads: t = 150 µs, a = "));
  EXPECT_EQ(row_line(samples::judged_row({}), header, {}).find("ggml"), std::string::npos);
}

TEST(Table, AnIncumbentWithFewerThreadsThanOfferedIsMarked) {
  Row row = win();
  row.weighing.arms[0].dispatched.threads = 1;
  EXPECT_TRUE(contains(row_line(row, samples::header(), {}), "oneDNN 2.6.3*    31.2"));
}

TEST(Table, ColoursOnlyWhenAsked) {
  const Header header = samples::header();
  const std::string plain = table_head(header, {}) + row_line(win(), header, {});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_TRUE(contains(row_line(win(), header, {.colour = true}), "\x1b[32mwin\x1b[0m"));
}

TEST(Table, NamesFromElsewhereCannotBreakALine) {
  Row row = win();
  row.model = std::string(500, 'm') + "\x1b[2J\n";
  row.weighing.arms[0].title = "a\nb\xff";
  const std::string text = row_line(row, samples::header(), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(contains(text, "a b\uFFFD"));
  EXPECT_LT(text.size(), 250u);
}

TEST(Table, ExitCodeIsOneWhenARowHasNoVerdict) {
  Results results{samples::header(), {win()}, Footer{}, {}};
  EXPECT_EQ(exit_code(results), 0);
  results.rows.push_back(refused_for_overhead());
  EXPECT_EQ(exit_code(results), 1);
  EXPECT_EQ(exit_code({samples::header(), {win()}, Footer{1, true}, {}}), 1);
  EXPECT_EQ(exit_code({samples::header(), {win()}, std::nullopt, {}}), 1);
  EXPECT_EQ(exit_code({samples::header(), {win()}, Footer{}, {"line 3: it is cut short"}}), 1);
}

// The table of a replay has the bytes of the table that the run printed.
// e-BH over the four rows that the header asks for: one alone must reach 80, two 40 each.
TEST(Table, AWinThatDoesNotStandIsNotServed) {
  Results results{samples::header(), {win(), win()}, {}, {}};
  results.rows[0].judgement.log_evidence = std::log(50);
  results.rows[1].judgement.log_evidence = std::log(45);
  EXPECT_TRUE(contains(table_row(results, 0, {}), "win                alone\n"))
      << "the second was not known when this line was printed";
  EXPECT_TRUE(contains(table_row(results, 1, {}), "win                serve\n"));
  EXPECT_TRUE(contains(table_foot(results, {}),
                       "Together with the rows behind it, no longer alone: serve: Qwen2.5-1.5B q/o "
                       "1536×1536, 1 row.\n"));
  results.rows[1].judgement.log_evidence = std::log(30);
  EXPECT_TRUE(contains(table_row(results, 1, {}), "win                alone\n"));
  EXPECT_TRUE(contains(table_foot(results, {}), "No row of it is marked serve."));
}

TEST(Table, TheEqualityThatWasAskedForIsNamed) {
  Header header = samples::header();
  Row row = win();
  header.rules.equality = judge::Equality::kSelf;
  EXPECT_TRUE(contains(table_head(header, {}), " · equality asked: self\n"));
  EXPECT_TRUE(contains(table_head(header, {}), "  self     verdict"));
  EXPECT_TRUE(contains(row_line(row, header, {}), "1.312]  -        win"));
  row.weighing.proof.rows.elements = 10;
  EXPECT_TRUE(contains(row_line(row, header, {}), "1.312]  holds    win"));
  row.weighing.proof.rows.by_position = 1;
  EXPECT_TRUE(contains(row_line(row, header, {}), "1.312]  broken   win"));
  row.judgement.decision = judge::Decision::kTrade;
  EXPECT_TRUE(contains(table_foot({header, {row}, {}, {}}, {}),
                       "trade: faster, but the bits of a row depend on what is dispatched with it; "
                       "served only if you accept that.\n"));
}

TEST(Table, AReplayPrintsTheSameBytes) {
  Header header = samples::header();
  header.models[0].notes = {"bad \xff note"};
  samples::Wanted slower, refused, differs;
  slower.rows = 8, slower.candidate_seconds = 1.0 / 7000;
  refused.projection = "k/v", refused.n = 256, refused.overhead_seconds = 5e-3;
  differs.rows = 32, differs.projection = "k/v", differs.n = 256, differs.differing = 9;
  Row odd = samples::judged_row(differs);
  odd.weighing.arms[0].title = "odd \xc3 \x1b title";
  odd.weighing.proof.candidate_error_max = kUnbounded;
  odd.judgement = judge::judge(odd.weighing, header.rules);
  for (const TableStyle style : {TableStyle{}, TableStyle{true, true}}) {
    const samples::TemporaryFile file;
    Results run{header, {}, {}, {}};
    ResultsWriter writer(file.path(), header);
    std::string printed = table_head(header, style);
    for (const Row& row :
         {samples::judged_row({}), samples::judged_row(slower), samples::judged_row(refused), odd,
          samples::failed_row("it returned \xfe\xff and crashed")}) {
      writer.write(row);
      run.rows.push_back(row);
      printed += table_row(run, run.rows.size() - 1, style);
    }
    run.footer = Footer{12.3, false};
    writer.finish(*run.footer);
    printed += table_foot(run, style);

    const Results read = read_results(file.path());
    EXPECT_TRUE(read.complaints.empty());
    std::string replayed = table_head(read.header, style);
    for (std::size_t i = 0; i < read.rows.size(); ++i) replayed += table_row(read, i, style);
    replayed += table_foot(read, style);
    EXPECT_EQ(replayed, printed);
    EXPECT_EQ(exit_code(read), exit_code(run));
  }
}

}  // namespace
}  // namespace tare::report
