// Files that were cut, edited or damaged: each gets a sentence that names what and where, and what
// can still be replayed is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "base/error.h"
#include "report/digest.h"
#include "report/encode.h"
#include "report/table.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A whole file, line by line.
struct File {
  std::vector<std::string> lines;

  static File of(const std::vector<Row>& rows) {
    const samples::TemporaryFile file;
    ResultsWriter writer(file.path(), samples::header());
    for (const Row& row : rows) writer.write(row);
    writer.finish({3.5, false});
    File result;
    std::istringstream stream(samples::read_text(file.path()));
    for (std::string line; std::getline(stream, line);) result.lines.push_back(line);
    return result;
  }

  std::string text() const {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return all;
  }

  // `sealed`: with the digests of a line that was written that way.
  template <typename Edit>
  void edit(std::size_t line, Edit change, bool sealed = false) {
    Json object = Json::parse(lines.at(line));
    change(object);
    if (sealed) object["digest"] = row_digests(object);
    lines[line] = object.dump();
  }
};

Results read(const std::string& text) {
  const samples::TemporaryFile file;
  samples::write_text(file.path(), text);
  return read_results(file.path());
}

std::string table_of(const Results& results) {
  std::string table = table_head(results.header, {});
  for (std::size_t i = 0; i < results.rows.size(); ++i) table += table_row(results, i, {});
  return table + table_foot(results, {});
}

File two_rows() {
  return File::of(
      {samples::judged_row({.blocks = 8}), samples::judged_row({.rows = 8, .blocks = 8})});
}

TEST(Damage, AWholeFileGetsNoComplaint) {
  const Results results = read(two_rows().text());
  EXPECT_THAT(results.complaints, IsEmpty());
  EXPECT_EQ(results.rows.size(), 2u);
}

TEST(Damage, TheLastLineCutAtAnyByteGetsOneComplaintAndCostsNoRow) {
  const File file =
      File::of({samples::judged_row({.blocks = 1}), samples::failed_row("it crashed")});
  const std::string text = file.text();
  const std::string whole = table_of(read(text));
  const std::size_t last = file.lines.back().size() + 1;
  for (std::size_t missing = 2; missing <= last; ++missing) {
    const Results results = read(text.substr(0, text.size() - missing));
    EXPECT_EQ(results.rows.size(), 2u);
    ASSERT_EQ(results.complaints.size(), 1u) << missing;
    EXPECT_THAT(results.complaints[0], HasSubstr("cut short"));
    EXPECT_EQ(exit_code(results), 1);
  }
  EXPECT_EQ(table_of(read(text.substr(0, text.size() - 1))), whole);  // its '\n' alone
}

TEST(Damage, ARowCutAtAnyByteCostsItselfOnly) {
  File file = File::of({samples::failed_row("it hung"), samples::failed_row("it crashed")});
  const std::string row = file.lines[2];
  file.lines.resize(2);
  const std::string before = file.text();
  for (std::size_t kept = 1; kept < row.size(); ++kept) {
    const Results results = read(before + row.substr(0, kept));
    EXPECT_EQ(results.rows.size(), 1u);
    ASSERT_EQ(results.complaints.size(), 1u) << kept;
    EXPECT_THAT(results.complaints[0], HasSubstr("line 3: it is cut short"));
  }
}

TEST(Damage, AChangedSampleIsNamedByLineRowAndPart) {
  File file = two_rows();
  const std::string before = Json::parse(file.lines[2])["digest"]["regions"];
  file.edit(2, [](Json& row) {
    Json& seconds = row["weighing"]["regions"]["seconds"][11];
    seconds = std::nextafter(seconds.get<double>(), 1.0);
  });
  const Json changed = row_digests(Json::parse(file.lines[2]));
  const std::string after = changed["regions"];
  const Results results = read(file.text());
  EXPECT_EQ(results.rows.size(), 2u);
  ASSERT_FALSE(results.complaints.empty());
  EXPECT_THAT(results.complaints[0],
              HasSubstr("line 3: row 2 (Qwen2.5-1.5B q/o 1536×1536, 8 rows): its samples (regions) "
                        "changed after the row was measured: digest " +
                        before + " in the file, " + after));
}

TEST(Damage, EveryPartOfARowIsVouchedFor) {
  struct Change {
    const char* pointer;
    Json value;
    const char* says;
  };
  const std::vector<Change> changes{
      {"/weighing/problem/accumulator", "bf16", "its recorded problem changed"},
      {"/weighing/threads", 7, "its recorded settings changed"},
      {"/weighing/placements/0/seed", 5, "its recorded placements changed"},
      {"/weighing/arms/0/ring_slots", 5, "its recorded arms changed"},
      {"/weighing/proof/elements", 5, "its proof changed"},
      {"/screened/1/seconds_per_dispatch", 1, "its recorded screened changed"},
      {"/model", "Qwen3", "its model or projection changed"},
  };
  for (const Change& change : changes) {
    File file = two_rows();
    file.edit(1, [&](Json& row) { row[Json::json_pointer(change.pointer)] = change.value; });
    const Results results = read(file.text());
    EXPECT_EQ(results.rows.size(), 2u) << change.pointer;
    ASSERT_FALSE(results.complaints.empty()) << change.pointer;
    EXPECT_THAT(results.complaints[0], HasSubstr(change.says));
  }
}

TEST(Damage, ARowWhoseDigestsWereTakenOutIsComplainedOf) {
  File file = two_rows();
  file.edit(1, [](Json& row) { row.erase("digest"); });
  EXPECT_THAT(read(file.text()).complaints.at(0), HasSubstr("nothing vouches for its samples"));
}

TEST(Damage, AChangedJudgementDoesNotStand) {
  File file = two_rows();
  file.edit(1, [](Json& row) { row["judgement"]["gates"][2]["seen"] = 0.25; });
  const Results results = read(file.text());
  EXPECT_THAT(results.complaints,
              ElementsAre(HasSubstr("field 'judgement.gates[2].seen' is 0.25 but the row's samples "
                                    "give")));
}

TEST(Damage, AChangedHeaderIsNamed) {
  File file = two_rows();
  file.edit(0, [](Json& header) { header["traffic"] = 2e9; });
  const Results results = read(file.text());
  EXPECT_THAT(results.complaints, ElementsAre(HasSubstr("line 1: its fields were changed")));
  EXPECT_EQ(results.rows.size(), 2u);
}

TEST(Damage, RulesThatCannotBeAreRefused) {
  for (const Json& alpha : {Json(0), Json(1.5), Json(-1), Json(nullptr)}) {
    File file = two_rows();
    file.edit(0, [&](Json& header) { header["rules"]["verdict_alpha"] = alpha; });
    EXPECT_THROW(read(file.text()), Error) << alpha;
  }
}

TEST(Damage, RowsTakenOutExchangedOrResealedAreNoticed) {
  File out = two_rows();
  out.lines.erase(out.lines.begin() + 1);
  EXPECT_THAT(read(out.text()).complaints, ElementsAre(HasSubstr("counts 2 rows, 1 were read")));

  File exchanged = two_rows();
  std::swap(exchanged.lines[1], exchanged.lines[2]);
  EXPECT_THAT(read(exchanged.text()).complaints, ElementsAre(HasSubstr("their order")));

  File resealed = two_rows();
  resealed.lines[1] = row_line(samples::judged_row({.blocks = 8, .seed = 9})).text;
  EXPECT_THAT(read(resealed.text()).complaints, ElementsAre(HasSubstr("its rows")));

  File footer = two_rows();
  footer.edit(3, [](Json& line) { line["seconds"] = 1; });
  EXPECT_THAT(read(footer.text()).complaints, ElementsAre(HasSubstr("its last line")));
}

TEST(Damage, ARowThatStandsThereTwiceCountsOnce) {
  File file = two_rows();
  file.lines.insert(file.lines.begin() + 2, file.lines[1]);
  const Results results = read(file.text());
  EXPECT_EQ(results.rows.size(), 2u);
  EXPECT_THAT(
      results.complaints,
      ElementsAre(HasSubstr("line 3: the row Qwen2.5-1.5B q/o 1536×1536, 1 row stands there "
                            "already; the line is left out")));
}

TEST(Damage, ARowThatWasAskedForTwiceStandsThereTwice) {
  const samples::TemporaryFile file;
  Header header = samples::header();
  header.rows = {1, 1};
  ResultsWriter writer(file.path(), header);
  for (const std::uint64_t seed : {1, 2})
    writer.write(samples::judged_row({.blocks = 8, .seed = seed}));
  writer.finish({});
  const Results results = read_results(file.path());
  EXPECT_EQ(results.rows.size(), 2u);
  EXPECT_THAT(results.complaints, IsEmpty());
}

TEST(Damage, WhatFollowsTheFooterIsLeftOut) {
  File file = two_rows();
  file.lines.push_back(row_line(samples::failed_row("late")).text);
  const Results results = read(file.text());
  EXPECT_EQ(results.rows.size(), 2u);
  EXPECT_THAT(results.complaints, ElementsAre(HasSubstr("line 5: it stands behind the last line")));
}

TEST(Damage, ARowWithoutSamplesIsShownAndComplainedOf) {
  File file = two_rows();
  file.edit(
      1,
      [](Json& row) {
        for (Json& column : row["weighing"]["regions"]) column = Json::array();
      },
      true);
  const Results results = read(file.text());
  ASSERT_EQ(results.rows.size(), 2u);
  EXPECT_EQ(results.rows[0].judgement.verdict, judge::Verdict::kInconclusive);
  EXPECT_THAT(results.complaints.at(0), HasSubstr("it holds no samples"));
}

TEST(Damage, ImpossibleTimesAreNamedAndTheirBlocksLeftOut) {
  for (const Json& time :
       {Json(-1e-3), Json(0), Json(nullptr), Json("inf"), Json("-inf"), Json(1e300)}) {
    File file = two_rows();
    file.edit(
        1, [&](Json& row) { row["weighing"]["regions"]["seconds"][4] = time; }, true);
    const Results results = read(file.text());
    ASSERT_EQ(results.rows.size(), 2u) << time;
    EXPECT_THAT(results.complaints.at(0), HasSubstr("field 'weighing.regions.seconds[4]' is"));
    EXPECT_THAT(results.complaints.at(0), HasSubstr("no region takes that"));
  }
}

TEST(Damage, AbsurdCountsAreRefusedByName) {
  struct Absurd {
    const char* pointer;
    Json value;
    const char* says;
  };
  const std::vector<Absurd> cases{
      {"/weighing/regions/block/7", 1e18, "field 'weighing.regions.block[7]' is 1e+18"},
      {"/weighing/regions/block/7", 1'000'000'000'000'000'000,
       "field 'weighing.regions.block[7]' is 1000000000000000000"},
      {"/weighing/regions/round/7", -5, "field 'weighing.regions.round[7]' is -5"},
      {"/weighing/regions/placement/7", 3,
       "field 'weighing.regions.placement[7]' is 3, and 'weighing.placements' holds 1"},
      {"/weighing/placements", Json::array(), "and 'weighing.placements' holds 0"},
  };
  for (const Absurd& absurd : cases) {
    File file = two_rows();
    file.edit(
        1, [&](Json& row) { row[Json::json_pointer(absurd.pointer)] = absurd.value; }, true);
    const Results results = read(file.text());
    EXPECT_EQ(results.rows.size(), 1u) << absurd.pointer;
    ASSERT_FALSE(results.complaints.empty());
    EXPECT_THAT(results.complaints[0], HasSubstr("line 2: "));
    EXPECT_THAT(results.complaints[0], HasSubstr(absurd.says));
  }
}

TEST(Damage, ManyDispatchesAndManyPlacementsAreNoHarm) {
  File file = two_rows();
  file.edit(
      1,
      [](Json& row) {
        for (Json& count : row["weighing"]["regions"]["dispatches"]) count = std::uint64_t{1} << 63;
        Json& placements = row["weighing"]["placements"];
        for (int i = 0; i < 500; ++i) placements.push_back(placements[0]);
      },
      true);
  EXPECT_EQ(read(file.text()).rows.size(), 2u);
  file.edit(
      1,
      [](Json& row) {
        Json& placements = row["weighing"]["placements"];
        for (int i = 0; i < 600; ++i) placements.push_back(placements[0]);
      },
      true);
  EXPECT_THAT(read(file.text()).complaints.at(0), HasSubstr("no weighing has more than 1000"));
}

// Not a matter of minutes: nothing grows with the square of the regions, or with regions times
// placements in memory.
TEST(Damage, AHugeRowIsRead) {
  Row row = samples::judged_row({.blocks = 8});
  const std::vector<weigh::Region> once = row.weighing.regions;
  constexpr std::uint32_t kCopies = 400;
  for (std::uint32_t copy = 1; copy < kCopies; ++copy) {
    for (weigh::Region region : once) {
      region.block += 8 * copy;
      row.weighing.regions.push_back(region);
    }
  }
  row.judgement = judge::judge(row.weighing, samples::header().rules);
  const Results results = read(File::of({row}).text());
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_THAT(results.complaints, IsEmpty());
  EXPECT_EQ(results.rows[0].judgement.blocks, 8 * kCopies);
}

TEST(Damage, ALineThatIsNotUtf8IsNamed) {
  File file = two_rows();
  file.lines[1].insert(file.lines[1].find("Qwen") + 2, "\xff\xfe");
  const Results results = read(file.text());
  EXPECT_EQ(results.rows.size(), 1u);
  EXPECT_THAT(results.complaints.at(0), HasSubstr("line 2: not UTF-8"));
}

TEST(Damage, NestingWithoutEndIsRefused) {
  File file = two_rows();
  const std::size_t at = file.lines[1].find("\"weighing\":{") + 12;
  file.lines[1].insert(at, "\"deep\":" + std::string(50'000, '[') + std::string(50'000, ']') + ',');
  const Results results = read(file.text());
  EXPECT_EQ(results.rows.size(), 1u);
  EXPECT_THAT(results.complaints.at(0), HasSubstr("line 2: it is nested deeper"));
}

TEST(Damage, PipesAndDevicesAreRefusedAndNotWaitedFor) {
  const samples::TemporaryFile pipe;
  ASSERT_EQ(::mkfifo(pipe.path().c_str(), 0600), 0);
  for (const std::filesystem::path& path : {pipe.path(), std::filesystem::path("/dev/null")}) {
    try {
      read_results(path);
      ADD_FAILURE() << "no error for " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.blame(), Blame::kInput);
      EXPECT_THAT(error.what(), HasSubstr("is a pipe or a device"));
    }
  }
}

// Whatever is flipped: no crash, no hang, and no other table without a complaint. (A byte may
// change nothing: a digit beyond a double's, or a letter of a number's exponent.)
TEST(Damage, FlippedBytesNeverChangeATableSilently) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::string whole =
      File::of({samples::judged_row({.blocks = 2}), samples::judged_row({.rows = 8, .blocks = 1}),
                samples::failed_row("it crashed")})
          .text();
  const std::string table = table_of(read(whole));
  const samples::TemporaryFile file;
  for (int trial = 0; trial < 800; ++trial) {
    std::string text = whole;
    const std::uint64_t flips = 1 + random() % 3;
    for (std::uint64_t flip = 0; flip < flips; ++flip) {
      text[random() % text.size()] ^= static_cast<char>(1 + random() % 255);
    }
    samples::write_text(file.path(), text);
    try {
      const Results results = read_results(file.path());
      if (results.complaints.empty()) {
        EXPECT_EQ(table_of(results), table);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.blame(), Blame::kInput) << error.what();
    }
  }
}

}  // namespace
}  // namespace tare::report
