// An arm of a module, prepared for one bf16 problem.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/kernels/bare_data.h"
#include "tests/kernels/module.h"

namespace tare::kernels {

class Prepared {
 public:
  // `bias`: tare_problem's, TARE_BF16 or none.
  Prepared(const tare_arm& arm, std::uint64_t k, std::uint64_t n, std::uint32_t rows,
           std::uint32_t bias = 0)
      : arm_(arm), n_(n), rows_(rows) {
    tare_problem problem = bf16_problem(k, n, rows);
    problem.bias = bias;
    EXPECT_EQ(arm.prepare(&problem, 1, &executor_, why_, sizeof why_), 0) << why_;
  }
  ~Prepared() {
    if (executor_ != nullptr) arm_.destroy(executor_);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  std::vector<Bf16> project(const BareData& data, const std::vector<Bf16>& bias = {}) {
    std::vector<Bf16> y(rows_ * n_);
    const std::vector<Bf16> weights = with_bias(data.weights, bias);
    EXPECT_EQ(arm_.bind(executor_, 0, weights.data(), why_, sizeof why_), 0) << why_;
    EXPECT_EQ(arm_.enqueue(executor_, 0, data.x.data(), y.data()), 0);
    EXPECT_EQ(arm_.fence(executor_), 0);
    return y;
  }
  std::string kernel() {
    tare_dispatch_record record{};
    EXPECT_EQ(arm_.dispatched(executor_, &record), 0);
    return record.kernel;
  }

 private:
  const tare_arm& arm_;
  std::uint64_t n_;
  std::uint32_t rows_;
  tare_executor* executor_ = nullptr;
  char why_[256] = "";
};

// 0 differing bits of two opened arms at each of these row counts, over data (seed printed) that
// lays bare the low bits of sums in that order.
inline void expect_same_bits(const tare_arm& ours, const tare_arm& theirs,
                             SumOrder (*order)(std::uint64_t, std::uint32_t), std::uint64_t k,
                             std::uint64_t n, std::span<const std::uint32_t> row_counts) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << k << "x" << n << " seed " << seed);
  std::mt19937_64 random(seed);
  const std::uint32_t most = std::ranges::max(row_counts);
  const BareData data = draw_bare(random, k, n, most, order(k, most));
  for (const std::uint32_t rows : row_counts)
    EXPECT_EQ(differing(Prepared(ours, k, n, rows).project(data),
                        Prepared(theirs, k, n, rows).project(data)),
              0U)
        << rows << " rows";
}

}  // namespace tare::kernels
