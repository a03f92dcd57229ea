// The module tare_cpu.so through the C ABI.
#include <array>

#include "kernels/cpu/paths.h"
#include "tests/kernels/bare_data.h"
#include "tests/kernels/module.h"
#include "tests/kernels/reference.h"

namespace tare::kernels {
namespace {

class TareCpu : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(module_.loaded());
    arm_ = module_.arm(0);
    ASSERT_NE(arm_, nullptr);
  }
  void TearDown() override { unsetenv("TARE_CPU_ISA"); }

  int open(const char* isa) {
    if (isa != nullptr) setenv("TARE_CPU_ISA", isa, 1);
    return arm_->open(&services_, why_, sizeof why_);
  }

  Module module_{TARE_MODULE};
  const tare_arm* arm_ = nullptr;
  tare_services services_ = services_with(2);
  char why_[200] = "";
};

// Arms, by their index, whose order of additions depends on k and the row count alone.
struct ArmsOrder {
  std::uint32_t index;
  SumOrder (*order_of)(std::uint64_t k, std::uint32_t rows);
};
constexpr std::array<ArmsOrder, 5> kOrders{
    {{1, ggml_order}, {2, onednn3_order}, {3, mlx_order}, {4, ggml_order}, {6, onednn_ip_order}}};

TEST_F(TareCpu, HoldsAnArmForEachOrder) {
  EXPECT_STREQ(arm_->name, "tare-panel");
  EXPECT_STREQ(arm_->title, "Tare panel");
  EXPECT_EQ(arm_->abi, TARE_ARM_ABI);
  ASSERT_NE(module_.arm(1), nullptr);
  EXPECT_STREQ(module_.arm(1)->name, "tare-panel-ggml");
  ASSERT_NE(module_.arm(2), nullptr);
  EXPECT_STREQ(module_.arm(2)->name, "tare-panel-onednn3");
  ASSERT_NE(module_.arm(3), nullptr);
  EXPECT_STREQ(module_.arm(3)->name, "tare-panel-mlx");
  ASSERT_NE(module_.arm(4), nullptr);
  EXPECT_STREQ(module_.arm(4)->name, "tare-dot-ggml");
  ASSERT_NE(module_.arm(5), nullptr);
  EXPECT_STREQ(module_.arm(5)->name, "tare-amx");
  ASSERT_NE(module_.arm(6), nullptr);
  EXPECT_STREQ(module_.arm(6)->name, "tare-panel-onednn-ip");
  EXPECT_EQ(module_.arm(7), nullptr);
}

TEST_F(TareCpu, RefusesWhatTheInnerProductAddsInAnotherOrder) {
  for (const auto& [k, sentence] : {std::pair{11008, "k = 11008 into chunks of 688"},
                                    std::pair{1000, "a multiple of 16; the problem has 1000"}}) {
    const tare_problem problem = bf16_problem(static_cast<std::uint64_t>(k), 64, 1);
    EXPECT_NE(module_.arm(6)->supports(&problem, why_, sizeof why_), 0);
    EXPECT_NE(std::string(why_).find(sentence), std::string::npos) << why_;
  }
}

TEST_F(TareCpu, RefusesShapesAtWhichGgmlsOrderIsNotKnown) {
  for (const auto& [k, n] : {std::pair{96, 64}, std::pair{128, 66}}) {
    const tare_problem problem = bf16_problem(k, n, 1);
    EXPECT_NE(module_.arm(1)->supports(&problem, why_, sizeof why_), 0);
    EXPECT_NE(std::string(why_).find("ggml's order"), std::string::npos);
  }
}

TEST_F(TareCpu, TakesTheOrderOfItsNameAtEveryRowCount) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::uint64_t k = 640, n = 68;
  const auto weights = reference::draw(random, n * k, reference::Values::kUsual);
  const auto x = reference::draw(random, 9 * k, reference::Values::kUsual);
  for (const auto& [index, order_of] : kOrders) {
    const tare_arm* arm = module_.arm(index);
    ASSERT_EQ(arm->open(&services_, why_, sizeof why_), 0) << why_;
    const tare_problem problem = bf16_problem(k, n, 1);
    if (index == 4 && arm->supports(&problem, why_, sizeof why_) != 0) continue;  // as it says
    tare_executor* executor = nullptr;
    ASSERT_EQ(arm->prepare(&problem, 1, &executor, why_, sizeof why_), 0) << why_;
    ASSERT_EQ(arm->bind(executor, 0, weights.data(), why_, sizeof why_), 0) << why_;
    for (const std::uint32_t rows : {1u, 9u, 2u, 1u}) {
      ASSERT_EQ(arm->set_rows(executor, rows, why_, sizeof why_), 0) << why_;
      std::vector<Bf16> y(rows * n);
      ASSERT_EQ(arm->enqueue(executor, 0, x.data(), y.data()), 0);
      EXPECT_EQ(y, reference::project(x, weights, k, n, rows, order_of(k, rows)))
          << arm->name << ' ' << rows;
    }
    arm->destroy(executor);
  }
}

TEST_F(TareCpu, AddsABiasInEveryOrder) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::uint64_t k = 640, n = 68;
  const auto weights = reference::draw(random, n * k, reference::Values::kUsual);
  const auto x = reference::draw(random, 9 * k, reference::Values::kUsual);
  const auto bias = reference::draw(random, n, reference::Values::kUsual);
  for (const auto& [index, order_of] : kOrders) {
    const tare_arm* arm = module_.arm(index);
    ASSERT_EQ(arm->open(&services_, why_, sizeof why_), 0) << why_;
    for (const std::uint32_t type : {std::uint32_t{TARE_BF16}, std::uint32_t{TARE_F32}}) {
      tare_problem problem = bf16_problem(k, n, 9);
      problem.bias = type;
      if (index == 4 && arm->supports(&problem, why_, sizeof why_) != 0) continue;  // as it says
      ASSERT_EQ(arm->supports(&problem, why_, sizeof why_), 0) << why_;
      tare_executor* executor = nullptr;
      ASSERT_EQ(arm->prepare(&problem, 1, &executor, why_, sizeof why_), 0) << why_;
      const auto bound =
          type == TARE_F32 ? with_bias(weights, widened(bias)) : with_bias(weights, bias);
      ASSERT_EQ(arm->bind(executor, 0, bound.data(), why_, sizeof why_), 0) << why_;
      for (const std::uint32_t rows : {9u, 1u}) {
        ASSERT_EQ(arm->set_rows(executor, rows, why_, sizeof why_), 0) << why_;
        std::vector<Bf16> y(rows * n);
        ASSERT_EQ(arm->enqueue(executor, 0, x.data(), y.data()), 0);
        EXPECT_EQ(y, reference::project(x, weights, k, n, rows, order_of(k, rows), widened(bias)))
            << arm->name << ' ' << rows;
      }
      arm->destroy(executor);
    }
  }
}

TEST_F(TareCpu, ComputesEverySlotAtEveryRowCountWithEveryPath) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::uint64_t k = 101, n = 77;
  const std::vector<Bf16> weights[] = {reference::draw(random, n * k, reference::Values::kUsual),
                                       reference::draw(random, n * k, reference::Values::kUsual)};
  const auto x = reference::draw(random, 9 * k, reference::Values::kUsual);
  for (const auto* path : panel_paths()) {
    ASSERT_EQ(open(path->name), 0) << why_;
    tare_problem problem = bf16_problem(k, n, 1);
    ASSERT_EQ(arm_->supports(&problem, why_, sizeof why_), 0) << why_;
    tare_executor* executor = nullptr;
    ASSERT_EQ(arm_->prepare(&problem, 2, &executor, why_, sizeof why_), 0) << why_;
    for (std::uint32_t slot : {0u, 1u}) {
      ASSERT_EQ(arm_->bind(executor, slot, weights[slot].data(), why_, sizeof why_), 0) << why_;
    }
    for (const std::uint32_t rows : {1u, 9u, 4u}) {
      ASSERT_EQ(arm_->set_rows(executor, rows, why_, sizeof why_), 0) << why_;
      for (std::uint32_t slot : {1u, 0u}) {
        std::vector<Bf16> y(rows * n);
        ASSERT_EQ(arm_->enqueue(executor, slot, x.data(), y.data()), 0);
        ASSERT_EQ(arm_->fence(executor), 0);
        EXPECT_EQ(y, reference::project(x, weights[slot], k, n, rows, onednn_order(k)))
            << path->name << " rows " << rows;
      }
    }
    tare_dispatch_record record;
    ASSERT_EQ(arm_->dispatched(executor, &record), 0);
    EXPECT_EQ(std::string(record.kernel), std::string("tare-panel:") + path->name);
    EXPECT_STREQ(record.isa, path->isa);
    EXPECT_EQ(record.threads, 2u);
    EXPECT_NE(std::string(record.configuration).find(path->tile), std::string::npos);
    arm_->destroy(executor);
  }
}

TEST_F(TareCpu, RefusesOtherTypesWithASentence) {
  tare_problem problem = bf16_problem(64, 64, 1);
  problem.weights = TARE_INT8_G128;
  EXPECT_NE(arm_->supports(&problem, why_, sizeof why_), 0);
  EXPECT_NE(std::string(why_).find("bf16"), std::string::npos);
}

TEST_F(TareCpu, RefusesAnUnknownPathWithASentence) {
  EXPECT_NE(open("mmx"), 0);
  EXPECT_NE(std::string(why_).find("'mmx'"), std::string::npos);
}

TEST_F(TareCpu, CutsASentenceThatDoesNotFit) {
  char narrow_why[8] = "";
  setenv("TARE_CPU_ISA", "mmx", 1);
  EXPECT_NE(arm_->open(&services_, narrow_why, sizeof narrow_why), 0);
  EXPECT_STREQ(narrow_why, "TARE_CP");
}

TEST_F(TareCpu, SaysWhenThereIsNoMemory) {
  services_.allocate = [](std::size_t) -> void* { return nullptr; };
  ASSERT_EQ(open("portable"), 0) << why_;
  const tare_problem problem = bf16_problem(64, 64, 1);
  tare_executor* executor = nullptr;
  EXPECT_NE(arm_->prepare(&problem, 1, &executor, why_, sizeof why_), 0);
  EXPECT_NE(std::string(why_).find("no memory"), std::string::npos);
}

}  // namespace
}  // namespace tare::kernels
