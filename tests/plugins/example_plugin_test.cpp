// The example plugin, as built by its one-line command, against fp64 and against the order of sums
// it promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "prove/compare.h"
#include "prove/oracle.h"
#include "tests/plugins/driven_arm.h"

namespace tare::testing_plugins {
namespace {

using prove::Bf16;

constexpr std::uint64_t kSeed = 21;
constexpr std::uint32_t kSlots = 2;

std::vector<Bf16> activations(const tare_problem& problem) {
  std::vector<Bf16> x(problem.rows * problem.k);
  prove::generate_activations(kSeed, 0, 0, x);
  return x;
}

class ExamplePlugin : public testing::TestWithParam<tare_problem> {};

TEST_P(ExamplePlugin, IsRightAgainstFp64) {
  const tare_problem problem = GetParam();
  const std::vector<Bf16> x = activations(problem);
  DrivenArm arm(TARE_EXAMPLE_PLUGIN, problem, kSlots, kSeed);
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    std::vector<Bf16> y(problem.rows * problem.n);
    prove::poison(y, 0);
    arm.run(slot, x, y);
    const auto elements = prove::draw_elements(problem.rows, problem.n, 200, slot);
    const auto truth = prove::oracle(x, {TARE_BF16, problem.k, problem.n, kSeed, slot}, elements);
    const auto error = prove::oracle_error(y, problem.n, elements, truth);
    EXPECT_EQ(error.non_finite, 0U);
    // Half a step of rounding once, and k float roundings of 2^-24 against a bf16 step of 2^-8,
    // relative to sums that may have been sqrt(k) times as large on the way.
    const double sums = static_cast<double>(problem.k) * 0x1p-16;
    EXPECT_LE(error.max_ulp, 0.5 + sums);
  }
}

// One float accumulator an output, along k in pairs, the odd element first, rounded once: the order
// that the processors' bf16 instruction has, written down as plainly as can be.
TEST_P(ExamplePlugin, HasTheBitsOfTheOrderItPromises) {
  const tare_problem problem = GetParam();
  const std::vector<Bf16> x = activations(problem);
  std::vector<Bf16> w(problem.k * problem.n), expected, y(problem.rows * problem.n);
  prove::generate_weights(kSeed, 1, 0, w);
  for (std::uint64_t row = 0; row < problem.rows; ++row) {
    for (std::uint64_t output = 0; output < problem.n; ++output) {
      float sum = 0;
      for (std::uint64_t i = 0; i < problem.k; ++i) {
        const bool pair = (i | 1U) < problem.k;
        const std::uint64_t at = pair ? i ^ 1U : i;
        sum = std::fma(prove::to_float(x[row * problem.k + at]),
                       prove::to_float(w[output * problem.k + at]), sum);
      }
      expected.push_back(prove::to_bf16(sum));
    }
  }
  DrivenArm arm(TARE_EXAMPLE_PLUGIN, problem, kSlots, kSeed);
  arm.run(1, x, y);
  EXPECT_EQ(prove::compare_bits(expected, y).differing, 0U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ExamplePlugin,
                         testing::Values(bf16_problem(1, 1, 1), bf16_problem(1, 17, 3),
                                         bf16_problem(2, 16, 1), bf16_problem(31, 1, 5),
                                         bf16_problem(97, 131, 7), bf16_problem(256, 48, 8),
                                         bf16_problem(1536, 40, 2)),
                         [](const auto& shape) {
                           return fmt::format("k{}n{}rows{}", shape.param.k, shape.param.n,
                                              shape.param.rows);
                         });

TEST(ExamplePlugin, AddsABias) {
  tare_problem problem = bf16_problem(64, 41, 3);
  problem.bias = TARE_BF16;
  const std::vector<Bf16> x = activations(problem);
  const prove::WeightKey key{TARE_BF16, problem.k,           problem.n,   kSeed,
                             1,         prove::Data::kUsual, problem.bias};
  DrivenArm arm(TARE_EXAMPLE_PLUGIN, problem, kSlots, kSeed);
  std::vector<Bf16> y(problem.rows * problem.n);
  arm.run(1, x, y);
  const auto elements = prove::draw_elements(problem.rows, problem.n, 200, 1);
  const auto error = prove::oracle_error(y, problem.n, elements, prove::oracle(x, key, elements));
  EXPECT_EQ(error.non_finite, 0U);
  EXPECT_LE(error.max_ulp, 0.5 + static_cast<double>(problem.k) * 0x1p-16);
}

TEST(ExamplePluginRows, SetRowsGivesEveryRowTheBitsItHasAlone) {
  const tare_problem problem = bf16_problem(97, 131, 7);
  const std::vector<Bf16> x = activations(problem);
  std::vector<Bf16> together(problem.rows * problem.n), alone(problem.n);
  DrivenArm arm(TARE_EXAMPLE_PLUGIN, problem, kSlots, kSeed);
  arm.run(0, x, together);
  arm.set_rows(1);
  for (std::size_t row = 0; row < problem.rows; ++row) {
    arm.run(0, std::span(x).subspan(row * problem.k, problem.k), alone);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                           together.begin() + static_cast<std::ptrdiff_t>(row * problem.n)));
  }
}

TEST(ExamplePluginRecord, SaysWhatRan) {
  const tare_problem problem = bf16_problem(8, 8, 1);
  const tare_dispatch_record record =
      DrivenArm(TARE_EXAMPLE_PLUGIN, problem, kSlots, kSeed).dispatched();
  EXPECT_STREQ(record.kernel, "panel16");
  EXPECT_STREQ(record.configuration, "weights [n/16][k][16]");
  EXPECT_EQ(record.threads, 1U);
}

TEST(ExamplePluginSupports, RefusesOtherTypesWithAReason) {
  tare_problem problem = bf16_problem(8, 8, 1);
  problem.weights = TARE_F32;
  char why[64] = "";
  EXPECT_NE(load_arm(TARE_EXAMPLE_PLUGIN)->supports(&problem, why, sizeof why), 0);
  EXPECT_STREQ(why, "computes bf16 with f32 sums only");
}

}  // namespace
}  // namespace tare::testing_plugins
