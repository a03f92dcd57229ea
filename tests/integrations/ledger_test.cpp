#include "ledger.h"

#include <gmock/gmock.h>

namespace tare::llama {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr tare_problem kHead{640,       262144,   1, TARE_GGUF_Q8_0, TARE_BF16_AS_INT8,
                             TARE_BF16, TARE_F32, 0};

TEST(Ledger, CountsProductsAndMatricesNotQuestions) {
  Ledger ledger;
  ledger.packed(100'000'000, 102'000'000, 0.25);
  for (int i = 0; i < 3; ++i) ledger.served(kHead);
  for (int i = 0; i < 5; ++i) ledger.left("blk.0.q", "q5_0 640x1024, 64 rows", "not in the plan");
  ledger.left("blk.1.q", "q5_0 640x1024, 64 rows", "not in the plan");
  const std::string text = ledger.text(true);
  EXPECT_THAT(text,
              HasSubstr("3 products served; 1 matrices packed beside the model's: 102.0 MB for "
                        "100.0 MB, 0.25 s"));
  EXPECT_THAT(text, HasSubstr("served 3 times: q8_0 640x262144, 1 row\n"));
  EXPECT_THAT(text, HasSubstr("left 2 matrices: q5_0 640x1024, 64 rows: not in the plan\n"));
  EXPECT_THAT(ledger.text(false), Not(HasSubstr("left")));
}

}  // namespace
}  // namespace tare::llama
