// Quantised weights through the C ABI: every format and kind of activations that a module does not
// refuse, against fp64 on the dequantised weights.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "formats/decode.h"
#include "prove/weights.h"
#include "tests/formats/every_format.h"
#include "tests/modules/drive.h"

namespace tare::tests {
namespace {

constexpr std::uint64_t kK = 768, kN = 192;
constexpr std::uint32_t kSlots = 2, kMostRows = 32;

// Weights in 64-byte aligned memory, as the ABI promises.
class Weights {
 public:
  Weights(std::uint32_t type, std::uint32_t bias_type, std::uint64_t seed, std::uint64_t slot)
      : key_{type, kK, kN, seed, slot, prove::Data::kUsual, bias_type},
        bytes_(prove::weight_buffer_bytes(key_)),
        memory_(std::aligned_alloc(64, (bytes_ + 63) / 64 * 64), std::free) {
    prove::generate_slot(key_, memory_.get());
    for (std::uint64_t j = 0; j < kN; ++j) {
      std::vector<double> row;
      formats::dequantise_row(formats::format_of(type), kK, kN, memory_.get(), j, row);
      numbers.push_back(std::move(row));
    }
    bias = formats::bias_of(formats::format_of(type), kK, kN, bias_type, memory_.get());
    bias.resize(kN);
  }
  const void* data() const { return memory_.get(); }
  void destroy() { std::memset(memory_.get(), 0xA5, bytes_); }

  std::vector<std::vector<double>> numbers;
  std::vector<float> bias;  // zeros where there is none

 private:
  prove::WeightKey key_;
  std::size_t bytes_;
  std::unique_ptr<void, void (*)(void*)> memory_;
};

// 8-bit activations are off by half a step of their block's largest, which is at most that of the
// whole row here; one more of each for steps that are themselves rounded to f16.
double rounding_of_x(std::uint32_t activations, const Buffer& x, std::uint64_t row) {
  if (activations != TARE_BF16_AS_INT8) return 0;
  double largest = 0;
  for (std::uint64_t i = 0; i < kK; ++i)
    largest = std::max(largest, static_cast<double>(std::fabs(to_float(x[row * kK + i]))));
  return largest / 127 * (0.5 + 127 * std::ldexp(1, -11));
}

void expect_near(const Buffer& y, const Buffer& x, const Weights& weights, std::uint32_t rows,
                 std::uint32_t activations) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    const double off = rounding_of_x(activations, x, row);
    for (std::uint64_t j = 0; j < kN; ++j) {
      double exact = 0, magnitude = 0, all = 0;
      for (std::uint64_t i = 0; i < kK; ++i) {
        const double w = weights.numbers[j][i];
        exact += to_float(x[row * kK + i]) * w;
        magnitude += std::abs(to_float(x[row * kK + i]) * w);
        all += std::abs(w);
      }
      // f32 sums of terms with biases apart, which may be some times the products.
      exact += weights.bias[j];
      const double sums = 16 * static_cast<double>(kK) * std::ldexp(magnitude, -24) + off * all;
      const double allowed = std::ldexp(std::abs(exact) + sums, -8) + sums;
      ASSERT_NEAR(to_float(y[row * kN + j]), exact, allowed) << "row " << row << " output " << j;
    }
  }
}

class Quantised : public testing::TestWithParam<formats::WeightFormat> {
 protected:
  void SetUp() override {
    if (Module::under_test().arms.empty()) GTEST_SKIP() << Module::under_test().absent;
  }

  void prepare(const tare_arm& arm, const tare_problem& problem, std::vector<Weights>& weights,
               tare_executor*& executor) {
    if (executor != nullptr) arm.destroy(executor);
    weights.clear();
    for (std::uint32_t slot = 0; slot < kSlots; ++slot)
      weights.emplace_back(GetParam().type, problem.bias, seed_, slot);
    char why[256] = "";
    ASSERT_EQ(arm.prepare(&problem, kSlots, &executor, why, sizeof why), 0) << why;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      ASSERT_EQ(arm.bind(executor, slot, weights[slot].data(), why, sizeof why), 0) << why;
      // Where the module packs, what it was given may be gone.
      if ((arm.flags & TARE_READS_WEIGHTS_IN_PLACE) == 0) weights[slot].destroy();
    }
  }

  void check(const tare_arm& arm, tare_problem problem) {
    SCOPED_TRACE(testing::Message() << arm.name << " bias " << problem.bias << " seed " << seed_);
    const Buffer x = random_values(kMostRows * kK, 1.0, seed_);
    std::vector<Weights> weights;
    char why[256] = "";
    tare_executor* executor = nullptr;
    for (const std::uint32_t rows : {1u, 2u, 3u, 8u, 32u}) {
      problem.rows = rows;
      // A module that cannot serve another row count with the same weights is prepared anew.
      if (executor == nullptr || arm.set_rows(executor, rows, why, sizeof why) != 0)
        prepare(arm, problem, weights, executor);
      if (HasFatalFailure()) return;
      for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " slot " << slot);
        const Buffer y(rows * kN);
        y.fill(0x7fc1);
        EXPECT_EQ(arm.enqueue(executor, slot, x.data(), y.data()), 0);
        EXPECT_EQ(arm.fence(executor), 0);
        EXPECT_TRUE(y.guard_intact());
        expect_near(y, x, weights[slot], rows, problem.activations);
        if (HasFatalFailure()) break;
      }
    }
    tare_dispatch_record record{};
    EXPECT_EQ(arm.dispatched(executor, &record), 0);
    std::printf("%s: %s; %s\n", arm.name, record.kernel, record.configuration);
    arm.destroy(executor);
  }

  const std::uint64_t seed_ = std::random_device{}();
};

TEST_P(Quantised, IsNearFp64OrIsRefusedWithAReason) {
  for (const tare_arm* arm : Module::under_test().arms) {
    if ((arm->flags & TARE_IS_LIMIT) != 0) continue;
    for (const std::uint32_t activations :
         {std::uint32_t{TARE_BF16}, std::uint32_t{TARE_BF16_AS_INT8}})
      for (const std::uint32_t bias : {0u, std::uint32_t{TARE_BF16}, std::uint32_t{TARE_F32}}) {
        const tare_problem problem{kK,          kN,        1,        GetParam().type,
                                   activations, TARE_BF16, TARE_F32, bias};
        const std::string why = refusal(*arm, problem);
        if (why.empty())
          check(*arm, problem);
        else
          EXPECT_NE(why, "(no reason given)") << arm->name;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Quantised, formats::every_format(), formats::name_of_format);

}  // namespace
}  // namespace tare::tests
