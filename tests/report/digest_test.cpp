#include "report/digest.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "report/encode.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

std::string digest_of(const char* text) {
  return digest(Json::parse(text));
}

// Computed by check_digests.py with the xxhash of PyPI.
TEST(Digest, IsThatOfTheDocumentedBytes) {
  EXPECT_EQ(digest_of("null"), "c311d21b3583875acbaa0f6724ae8b0a");
  EXPECT_EQ(digest_of("true"), "190e8fcdd645bb7c76033e85f0acf92d");
  EXPECT_EQ(digest_of("false"), "b3b2b50bf19ad7d533c155909ff3ba9a");
  EXPECT_EQ(digest_of("0"), "edbf82919c75c16412f589a228c03542");
  EXPECT_EQ(digest_of("-1.5"), "412f002918caf50147ab45b1a07eb499");
  EXPECT_EQ(digest_of("\"\""), "85fefc6f12f345b396720846b631026c");
  EXPECT_EQ(digest_of("\"ü\""), "0fb40daf0dbbf2464952c8c50ff189cf");
  EXPECT_EQ(digest_of("[]"), "4ca345647d7831e5b25794992bd4307e");
  EXPECT_EQ(digest_of("{}"), "301159136ebeac945bdfca491c8b7de7");
  EXPECT_EQ(digest_of("18446744073709551615"), "aec65c476a44c87fe08f2c2992b3c5bb");
  EXPECT_EQ(digest_of("9007199254740993"), "f2d273b0d440318905f86e53554f1266");
  EXPECT_EQ(digest_of(R"({"b": [1, 2.5, "ü"], "a": null, "ab": {"x": true}})"),
            "51d6ac2fb770397456673157c2cd5c08");
}

TEST(Digest, HowAValueIsWrittenDoesNotCount) {
  EXPECT_EQ(digest_of(R"({"a": 1, "b": 200.0})"), digest_of(R"({"b":2e2,"a":1.0})"));
}

TEST(Digest, EveryValueCounts) {
  EXPECT_NE(digest_of("0.1"), digest_of("0.10000000000000002"));
  EXPECT_NE(digest_of("9007199254740993"), digest_of("9007199254740992"));
  EXPECT_NE(digest_of("[1, 2]"), digest_of("[2, 1]"));
  EXPECT_NE(digest_of("[[1], 2]"), digest_of("[[1, 2]]"));
  EXPECT_NE(digest_of(R"(["ab", "c"])"), digest_of(R"(["a", "bc"])"));
  EXPECT_NE(digest_of(R"({"a": 1})"), digest_of(R"({"b": 1})"));
  EXPECT_NE(digest_of("null"), digest_of("\"inf\""));
}

TEST(Digest, AValueNestedWithoutEndIsRefused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THROW(digest(Json::parse(deep)), Error);
}

TEST(Digest, ARowHasOneForEachPart) {
  Json row = Json::parse(row_line(samples::judged_row({.blocks = 8})).text);
  const Json before = row["digest"];
  EXPECT_EQ(before, row_digests(row));
  row["weighing"]["regions"]["seconds"][3] =
      std::nextafter(row["weighing"]["regions"]["seconds"][3].get<double>(), 1.0);
  const Json after = row_digests(row);
  for (const auto& [part, digest] : before.items()) {
    const bool must_change = part == "regions" || part == "row";
    EXPECT_EQ(after[part] != digest, must_change) << part;
  }
}

TEST(Digest, TheVerdictNeedsNone) {
  Json row = Json::parse(row_line(samples::judged_row({.blocks = 8})).text);
  row["verdict"] = "loss";
  row["judgement"]["ratio"] = 7;
  EXPECT_EQ(row["digest"], row_digests(row));
}

// Written and checked by another program, from the documentation alone.
TEST(Digest, AnotherProgramCanCheckThem) {
  const samples::TemporaryFile file;
  Row odd = samples::judged_row({.rows = 8, .differing = 3, .blocks = 8});
  odd.weighing.regions[0].seconds = std::numeric_limits<double>::quiet_NaN();
  odd.weighing.proof.candidate_error_max = std::numeric_limits<double>::infinity();
  ResultsWriter writer(file.path(), samples::header());
  writer.write(samples::judged_row({.blocks = 8}));
  writer.write(odd);
  writer.write(samples::failed_row("it crashed \xff"));
  writer.finish({1.5, true});
  const std::string command =
      "python3 '" TARE_TEST_DIR "/check_digests.py' '" + file.path().string() + "'";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  constexpr int kNoXxhash = 77, kNoPython = 127;
  if (WEXITSTATUS(status) == kNoXxhash || WEXITSTATUS(status) == kNoPython) {
    GTEST_SKIP() << "no python3-xxhash";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0) << command;
}

}  // namespace
}  // namespace tare::report
