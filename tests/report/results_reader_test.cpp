#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/error.h"
#include "report/digest.h"
#include "report/encode.h"
#include "report/results.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

using nlohmann::json;

std::string file_text(const std::vector<Row>& rows) {
  const samples::TemporaryFile file;
  ResultsWriter writer(file.path(), samples::header());
  for (const Row& row : rows) writer.write(row);
  writer.finish({3.5, false});
  return samples::read_text(file.path());
}

// The header's line, as a run writes it.
std::string header_text() {
  return header_line(samples::header()).text + '\n';
}

Results results_of(const std::string& text) {
  const samples::TemporaryFile file;
  samples::write_text(file.path(), text);
  return read_results(file.path());
}

std::string error_of(const std::string& text) {
  try {
    results_of(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kInput);
    return error.what();
  }
  ADD_FAILURE() << "no error for " << text.substr(0, 80);
  return "";
}

// A file of one row, changed by `edit`. `sealed`: its digests are computed anew, as for a row that
// was written that way.
template <typename Edit>
Results edited(Edit edit, bool sealed = true) {
  const SealedLine header = header_line(samples::header());
  json line = json::parse(row_line(samples::judged_row({})).text);
  edit(line);
  if (sealed) line["digest"] = row_digests(line);
  const std::string digest = line["digest"].value("row", "");
  return results_of(header.text + '\n' + line.dump() + '\n' +
                    footer_line({}, {header.digest, digest}) + '\n');
}

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

TEST(ResultsReader, ReadsBackWhatWasWritten) {
  const Row row = samples::judged_row({});
  const Results results = results_of(file_text({row, samples::failed_row("the host crashed")}));
  EXPECT_TRUE(results.complaints.empty()) << results.complaints.front();
  ASSERT_EQ(results.rows.size(), 2u);
  ASSERT_TRUE(results.footer.has_value());
  EXPECT_EQ(results.footer->seconds, 3.5);
  EXPECT_EQ(header_line(results.header).text, header_line(samples::header()).text);
  EXPECT_EQ(row_line(results.rows[0]).text, row_line(row).text);
  EXPECT_EQ(results.rows[0].weighing.placements.at(0).seed, 0xfedcba9876543210u);
  EXPECT_EQ(results.rows[1].weighing.failure, "the host crashed");
}

TEST(ResultsReader, DoublesKeepTheirBits) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  Row row = samples::judged_row({});
  for (weigh::Region& region : row.weighing.regions) {
    region.seconds = std::bit_cast<double>(random());
    if (std::isnan(region.seconds)) region.seconds = std::numeric_limits<double>::denorm_min();
  }
  row.judgement = judge::judge(row.weighing, samples::header().rules);
  const Results results = results_of(file_text({row}));
  ASSERT_EQ(results.rows.size(), 1u);
  const auto& regions = results.rows[0].weighing.regions;
  ASSERT_EQ(regions.size(), row.weighing.regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(regions[i].seconds),
              std::bit_cast<std::uint64_t>(row.weighing.regions[i].seconds));
  }
}

TEST(ResultsReader, NonFiniteNumbersComeBackAsTheyWere) {
  Row row = samples::judged_row({});
  row.weighing.proof.candidate_error_max = std::numeric_limits<double>::infinity();
  row.weighing.proof.candidate_error_rms = std::numeric_limits<double>::quiet_NaN();
  row.weighing.regions[3].cpu_seconds = -std::numeric_limits<double>::infinity();
  row.judgement = judge::judge(row.weighing, samples::header().rules);
  const Results results = results_of(file_text({row}));
  ASSERT_EQ(results.rows.size(), 1u);
  const weigh::Weighing& weighing = results.rows[0].weighing;
  EXPECT_EQ(weighing.proof.candidate_error_max, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(weighing.proof.candidate_error_rms));
  EXPECT_EQ(weighing.regions[3].cpu_seconds, -std::numeric_limits<double>::infinity());
}

TEST(ResultsReader, TextThatIsNotUtf8IsReplacedAndNotRefused) {
  Row row = samples::judged_row({});
  row.weighing.arms[0].title = "bad \xff\xfe name";
  std::memset(row.weighing.arms[0].dispatched.kernel, '\xff', 128);  // no NUL
  const Results results = results_of(file_text({row}));
  ASSERT_EQ(results.rows.size(), 1u);
  const weigh::Arm& arm = results.rows[0].weighing.arms[0];
  EXPECT_EQ(arm.title, "bad \uFFFD\uFFFD name");
  EXPECT_EQ(std::strlen(arm.dispatched.kernel), 126u);  // 42 times U+FFFD
}

TEST(ResultsReader, ALineCutShortCostsOnlyItself) {
  const std::string whole = header_text() + row_line(samples::judged_row({})).text + '\n';
  const std::string last = row_line(samples::judged_row({.rows = 8})).text;
  for (const std::size_t kept :
       {std::size_t{1}, std::size_t{100}, last.size() / 2, last.size() - 1}) {
    const Results results = results_of(whole + last.substr(0, kept));
    EXPECT_EQ(results.rows.size(), 1u);
    EXPECT_FALSE(results.footer.has_value());
    ASSERT_EQ(results.complaints.size(), 1u);
    EXPECT_TRUE(contains(results.complaints[0], "line 3: it is cut short"));
  }
  EXPECT_EQ(results_of(whole + last).rows.size(), 2u);  // only the '\n' is gone
}

TEST(ResultsReader, ABrokenLineInTheMiddleCostsOnlyItself) {
  const std::string row = row_line(samples::judged_row({})).text;
  const Results results = results_of(header_text() + row.substr(0, 700) + row + '\n' + row + '\n' +
                                     footer_line({}, {"", "", ""}) + '\n');
  EXPECT_EQ(results.rows.size(), 1u);
  ASSERT_EQ(results.complaints.size(), 2u);
  EXPECT_TRUE(contains(results.complaints[0], "line 2: not JSON"));
  EXPECT_TRUE(contains(results.complaints[1], "counts 2 rows, 1 were read"));
}

struct BadField {
  const char* pointer;  // JSON pointer into a row
  json value;
  const char* complaint;
};

TEST(ResultsReader, AWrongFieldIsNamedWithItsLine) {
  const std::vector<BadField> cases{
      {"/weighing/regions/seconds/3", "fast", "field 'weighing.regions.seconds[3]' is \"fast\""},
      {"/weighing/regions/seconds", json::array({1.0}),
       "field 'weighing.regions.seconds' holds 1 regions where 'weighing.regions.arm' holds"},
      {"/weighing/regions/block/0", -1, "field 'weighing.regions.block[0]' is -1"},
      {"/weighing/regions/block/0", 4294967296, "field 'weighing.regions.block[0]' is 4294967296"},
      {"/weighing/regions/dispatches/0", 1.5, "field 'weighing.regions.dispatches[0]' is 1.5"},
      {"/weighing/regions/outputs/0", "perfect", "one of \"unchecked\", \"right\""},
      {"/weighing/regions", 7, "field 'weighing.regions' is 7: it must be an object"},
      {"/weighing/arms", "none", "field 'weighing.arms' is \"none\": it must be a list"},
      {"/weighing/arms/1/role", "king", "field 'weighing.arms[1].role' is \"king\""},
      {"/weighing/arms/1/dispatched/isa", std::string(48, 'x'), "a text of at most 47 bytes"},
      {"/weighing/problem/k", 0, "field 'weighing.problem.k' is 0"},
      {"/weighing/problem/rows", 1000000000, "field 'weighing.problem.rows' is 1000000000"},
      {"/weighing/problem/weights", "bf17", "field 'weighing.problem.weights' is \"bf17\""},
      {"/weighing/proof/done", 1, "field 'weighing.proof.done' is 1: it must be true or false"},
      {"/weighing/failure", json::array(), "field 'weighing.failure' is a list"},
      {"/model", nullptr, "field 'model' is null: it must be a text"},
      {"/screened/0/gbps", true, "field 'screened[0].gbps' is true"},
  };
  for (const BadField& bad : cases) {
    const Results results =
        edited([&](json& line) { line[json::json_pointer(bad.pointer)] = bad.value; });
    EXPECT_TRUE(results.rows.empty()) << bad.pointer;
    ASSERT_FALSE(results.complaints.empty()) << bad.pointer;
    EXPECT_TRUE(contains(results.complaints[0], "line 2: "));
    EXPECT_TRUE(contains(results.complaints[0], bad.complaint));
  }
}

TEST(ResultsReader, AMissingFieldIsNamed) {
  const Results results = edited([](json& line) { line["weighing"]["proof"].erase("max_ulp"); });
  ASSERT_FALSE(results.complaints.empty());
  EXPECT_TRUE(contains(results.complaints[0], "line 2: field 'weighing.proof.max_ulp' is missing"));
}

TEST(ResultsReader, AnEditedVerdictDoesNotStandAgainstTheSamples) {
  const Results results = edited([](json& line) {
    line["verdict"] = "loss";
    line["ratio"] = 2.5;
  });
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].judgement.verdict, judge::Verdict::kWin);
  ASSERT_EQ(results.complaints.size(), 2u);
  EXPECT_TRUE(contains(results.complaints[0], "field 'ratio' is 2.5 but the row's samples give"));
  EXPECT_TRUE(contains(results.complaints[1], "field 'verdict' is \"loss\""));
}

TEST(ResultsReader, EditedSamplesAreJudgedAnew) {
  const Results results = edited([](json& line) {
    json& regions = line["weighing"]["regions"];
    for (std::size_t i = 0; i < regions["arm"].size(); ++i) {
      if (regions["arm"][i] == "candidate") {
        for (const char* clock : {"seconds", "outer_seconds", "cpu_seconds"}) {
          regions[clock][i] = regions[clock][i].get<double>() * 2;
        }
      }
    }
  });
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].judgement.verdict, judge::Verdict::kLoss);
}

TEST(ResultsReader, FieldsOfALaterTareArePassedOver) {
  const Results results = edited([](json& line) {
    line["temperature"] = 61;
    line["weighing"]["regions"]["clock_hz"] = json::array({1, 2, 3});
  });
  EXPECT_EQ(results.rows.size(), 1u);
  EXPECT_TRUE(results.complaints.empty());
}

TEST(ResultsReader, RefusesWhatIsNoResultsFileWithASentence) {
  EXPECT_TRUE(contains(error_of(""), "is empty"));
  EXPECT_TRUE(contains(error_of("hello\n"), "not a JSON object"));
  EXPECT_TRUE(contains(error_of("{\"kind\":\"hea"), "cut short or not JSON"));
  EXPECT_TRUE(contains(error_of("[1, 2]\n"), "not a JSON object"));
  EXPECT_TRUE(contains(error_of("{}\n"), "names no schema"));
  EXPECT_TRUE(contains(error_of("{\"schema\": 1}\n"), "names no schema"));
  EXPECT_TRUE(contains(error_of("{\"schema\": \"other/1\"}\n"), "'other/1'"));
  EXPECT_TRUE(contains(error_of("{\"schema\": \"tare.headroom/x\"}\n"), "not a results file"));
  EXPECT_TRUE(contains(error_of("{\"schema\": \"tare.headroom/3\"}\n"), "a newer Tare"));
  EXPECT_TRUE(contains(error_of("{\"schema\": \"tare.headroom/1\"}\n"), "an older Tare"));
  EXPECT_TRUE(contains(error_of("{\"schema\": \"tare.headroom/2\"}\n"),
                       "line 1: field 'tare_version' is missing"));
  EXPECT_TRUE(contains(error_of(std::string(1 << 20, '[')), "not JSON"));
  EXPECT_TRUE(contains(error_of(std::string(4096, '\0')), "not JSON"));
}

TEST(ResultsReader, SaysWhyAFileCannotBeRead) {
  EXPECT_THROW(
      {
        try {
          read_results("/nowhere/at/all.jsonl");
        } catch (const Error& error) {
          EXPECT_TRUE(contains(error.what(), "'/nowhere/at/all.jsonl': No such file"));
          throw;
        }
      },
      Error);
  EXPECT_THROW(read_results("/"), Error);
}

TEST(ResultsReader, AnEndlessFileIsGivenUp) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero";
  EXPECT_THROW(read_results("/dev/zero"), Error);
}

}  // namespace
}  // namespace tare::report
