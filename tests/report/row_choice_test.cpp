#include "report/row_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

using ::testing::HasSubstr;

Row named(const char* model, const char* projection, std::uint64_t k, std::uint64_t n,
          std::uint32_t rows) {
  Row row;
  row.model = model;
  row.projection = projection;
  row.weighing.problem.k = k;
  row.weighing.problem.n = n;
  row.weighing.problem.rows = rows;
  return row;
}

Results results() {
  Results results;
  results.header = samples::header();
  results.rows = {named("Qwen2.5-1.5B", "q/o", 1536, 1536, 1),
                  named("Qwen2.5-1.5B", "q/o", 1536, 1536, 8),
                  named("Qwen2.5-1.5B", "k/v", 1536, 256, 8),
                  named("my model 7", "k/v", 1536, 256, 8), named("my model 7", "q/o", 64, 64, 1)};
  return results;
}

std::string error_of(const std::string& wanted) {
  try {
    choose_row(results(), wanted);
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kInput);
    return error.what();
  }
  ADD_FAILURE() << "no error for " << wanted;
  return "";
}

TEST(RowChoice, ByNumberFromOne) {
  EXPECT_EQ(choose_row(results(), "1"), 0u);
  EXPECT_EQ(choose_row(results(), "5"), 4u);
}

TEST(RowChoice, ByWordsThatAreTrueOfOneRow) {
  EXPECT_EQ(choose_row(results(), "Qwen2.5-1.5B q/o 8"), 1u);
  EXPECT_EQ(choose_row(results(), "qwen2.5-1.5b q 8 rows"), 1u);
  EXPECT_EQ(choose_row(results(), "1536x1536x8"), 1u);
  EXPECT_EQ(choose_row(results(), "1536×1536×8"), 1u);
  EXPECT_EQ(choose_row(results(), "Qwen2.5-1.5B q/o 1536×1536, 8 rows"), 1u);
  EXPECT_EQ(choose_row(results(), "64x64"), 4u);
  EXPECT_EQ(choose_row(results(), "my model v"), 3u);
}

TEST(RowChoice, NoneAndSeveralAreToldWithTheRows) {
  EXPECT_THAT(error_of("0"), HasSubstr("no row is '0'"));
  EXPECT_THAT(error_of("6"), HasSubstr("5: my model 7 q/o 64×64, 1 row"));
  EXPECT_THAT(error_of(" "), HasSubstr("no row is"));
  EXPECT_THAT(error_of("Llama"), HasSubstr("1: Qwen2.5-1.5B q/o 1536×1536, 1 row; 2: "));
  EXPECT_THAT(error_of("k/v 8"),
              HasSubstr("several rows; name one by its number, or say more: 3: Qwen2.5-1.5B k/v "
                        "1536×256, 8 rows; 4: my model 7 k/v 1536×256, 8 rows"));
  EXPECT_THROW(choose_row({}, "1"), Error);
}

}  // namespace
}  // namespace tare::report
