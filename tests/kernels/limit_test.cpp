// The module limit.so through the C ABI.
#include <gmock/gmock.h>

#include <set>

#include "kernels/cpu/limits.h"
#include "tests/kernels/module.h"

namespace tare::kernels {
namespace {

class Limit : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(module_.loaded());
    for (std::uint32_t i = 0; const tare_arm* arm = module_.arm(i); ++i) arms_.push_back(arm);
  }

  Module module_{TARE_MODULE};
  std::vector<const tare_arm*> arms_;
  tare_services services_ = services_with(2);
  char why_[200] = "";
};

TEST_F(Limit, NamesEachArmOnceAndFlagsIt) {
  std::set<std::string> names;
  for (const auto* arm : arms_) {
    EXPECT_EQ(arm->flags, TARE_IS_LIMIT | TARE_READS_WEIGHTS_IN_PLACE);
    EXPECT_TRUE(names.insert(arm->name).second) << arm->name;
    EXPECT_NE(arm->title[0], '\0');
  }
  EXPECT_EQ(names.size(), stream_kernels().size() + 3);
  EXPECT_TRUE(names.contains("limit-peak-bf16"));
  EXPECT_TRUE(names.contains("limit-peak-f32"));
  EXPECT_TRUE(names.contains("limit-peak-int8"));
  EXPECT_TRUE(names.contains("limit-stream-portable-plain"));
}

TEST_F(Limit, RunsAtAnyShapeAndSaysWhatRan) {
  alignas(64) static std::uint16_t weights[2][33 * 70];
  for (const auto* arm : arms_) {
    ASSERT_EQ(arm->open(&services_, why_, sizeof why_), 0) << why_;
    for (const auto& [k, n, rows] : {std::tuple{1u, 1u, 1u}, std::tuple{33u, 70u, 8u}}) {
      tare_problem problem = bf16_problem(k, n, rows);
      if (std::string_view(arm->name) == "limit-peak-int8") problem.activations = TARE_BF16_AS_INT8;
      if (std::string_view(arm->name) == "limit-peak-f32") problem.weights = TARE_F32;
      if (arm->supports(&problem, why_, sizeof why_) != 0) {
        EXPECT_THAT(why_, testing::AnyOf(testing::HasSubstr("has no AVX"),
                                         testing::HasSubstr("reads slower than the vectors")));
        continue;
      }
      tare_executor* executor = nullptr;
      ASSERT_EQ(arm->prepare(&problem, 2, &executor, why_, sizeof why_), 0) << why_;
      for (std::uint32_t slot : {0u, 1u}) {
        ASSERT_EQ(arm->bind(executor, slot, weights[slot], why_, sizeof why_), 0);
        EXPECT_EQ(arm->enqueue(executor, slot, nullptr, nullptr), 0);
      }
      EXPECT_EQ(arm->fence(executor), 0);
      tare_dispatch_record record;
      ASSERT_EQ(arm->dispatched(executor, &record), 0);
      EXPECT_NE(record.kernel[0], '\0');
      EXPECT_NE(record.isa[0], '\0');
      EXPECT_EQ(record.threads, 2u);
      arm->destroy(executor);
    }
  }
}

TEST_F(Limit, RefusesOtherTypes) {
  tare_problem problem = bf16_problem(64, 64, 1);
  problem.accumulator = TARE_BF16;
  for (const auto* arm : arms_) EXPECT_NE(arm->supports(&problem, why_, sizeof why_), 0);
}

// A row has one peak: that of its products.
TEST_F(Limit, APeakIsOfItsFactors) {
  struct Case {
    std::uint32_t weights, activations;
    const char* peak;
  };
  for (const Case& one :
       {Case{TARE_BF16, TARE_BF16, "limit-peak-bf16"},
        Case{TARE_INT8_G128, TARE_BF16, "limit-peak-bf16"},
        Case{TARE_F16, TARE_BF16, "limit-peak-f32"}, Case{TARE_F32, TARE_BF16, "limit-peak-f32"},
        Case{TARE_GGUF_Q8_0, TARE_BF16_AS_INT8, "limit-peak-int8"}}) {
    tare_problem problem = bf16_problem(128, 64, 1);
    problem.weights = one.weights;
    problem.activations = one.activations;
    std::vector<std::string> peaks;
    for (const auto* arm : arms_)
      if (std::string_view(arm->name).starts_with("limit-peak-") &&
          arm->supports(&problem, why_, sizeof why_) == 0)
        peaks.emplace_back(arm->name);
    EXPECT_THAT(peaks, testing::ElementsAre(one.peak));
  }
}

}  // namespace
}  // namespace tare::kernels
