// The published schema (data/results.schema.json) against a file as it is written, by an
// independent validator.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <limits>

#include "report/results.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

TEST(Schema, AWrittenFileIsValid) {
  const samples::TemporaryFile file;
  Row odd = samples::judged_row({.differing = 3});
  odd.weighing.proof.candidate_error_max = std::numeric_limits<double>::infinity();
  odd.weighing.regions[0].seconds = std::numeric_limits<double>::quiet_NaN();
  odd.judgement = judge::judge(odd.weighing, samples::header().rules);
  ResultsWriter writer(file.path(), samples::header());
  writer.write(samples::judged_row({.blocks = 12}));
  writer.write(odd);
  writer.write(samples::failed_row("it crashed"));
  writer.finish({1.5, true});
  const std::string command = "python3 '" TARE_TEST_DIR "/validate_lines.py' '" TARE_SCHEMA "' '" +
                              file.path().string() + "'";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  constexpr int kNoValidator = 77, kNoPython = 127;
  if (WEXITSTATUS(status) == kNoValidator || WEXITSTATUS(status) == kNoPython) {
    GTEST_SKIP() << "no python3-jsonschema";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0) << command;
}

}  // namespace
}  // namespace tare::report
