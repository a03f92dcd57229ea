// The matrix finds each kind of dependence that is built into a kernel here, and no other.
#include "prove/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "prove/compare.h"
#include "prove/weights.h"

namespace tare::prove {
namespace {

constexpr std::uint64_t kK = 100, kN = 13;

MatrixPlan plan_of(std::vector<std::uint32_t> rows) {
  return {{kK, kN, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0},
          std::move(rows),
          {std::begin(kProvenData), std::end(kProvenData)},
          5};
}

// A kernel in f32 with a number of lanes that may depend on anything.
class Kernel {
 public:
  virtual ~Kernel() = default;

  Compute compute() {
    return [this](Data data, std::uint32_t rows, ConstElements x, int which, Elements y) {
      run(data, rows, x, which, y);
    };
  }

 protected:
  virtual std::size_t lanes(std::uint32_t /*rows*/, std::uint32_t /*row*/) { return 1; }

  virtual void run(Data data, std::uint32_t rows, ConstElements x, int /*which*/, Elements y) {
    ++dispatches_;
    std::vector<double> w;
    for (std::uint64_t j = 0; j < kN; ++j) {
      generate_row({TARE_BF16, kK, kN, 5, 0, data}, j, w);
      for (std::uint32_t r = 0; r < rows; ++r) y.set(r * kN + j, dot(x, w, rows, r));
    }
  }

  float dot(ConstElements x, const std::vector<double>& w, std::uint32_t rows, std::uint32_t row) {
    std::vector<float> sums(lanes(rows, row), 0.0F);
    for (std::uint64_t i = 0; i < kK; ++i)
      sums[i % sums.size()] += x.value(row * kK + i) * static_cast<float>(w[i]);
    return std::accumulate(sums.begin(), sums.end(), 0.0F);
  }

  std::uint64_t dispatches_ = 0;
};

Certificate prove(Kernel& kernel, const MatrixPlan& plan) {
  Certificate certificate = blank_certificate();
  const std::vector<Drawn> drawn = draw_all(plan);
  const Recorded own = record(plan, drawn, kernel.compute(), certificate);
  prove_batch(plan, drawn, kernel.compute(), own, certificate);
  prove_setting(plan, drawn, kernel.compute(), own, "run to run", "prepared anew", certificate);
  return certificate;
}

Held held(const Certificate& certificate, std::string_view name) {
  return invariance(certificate, name).held;
}

TEST(Matrix, AHonestKernelIsEqualInEveryCell) {
  Kernel honest;
  const Certificate found = prove(honest, plan_of({1, 2, 3, 8}));
  for (const std::string_view name : {"rows", "row position", "NaN neighbour", "Inf neighbour",
                                      "huge neighbour", "denormal neighbour", "run to run"}) {
    EXPECT_EQ(held(found, name), Held::kEqual) << name;
    EXPECT_GT(invariance(found, name).compared, 0u) << name;
  }
  EXPECT_EQ(held(found, "threads"), Held::kNotTried);
  EXPECT_TRUE(batch_invariant(found));
  EXPECT_EQ(found.manners.unwritten, 0u);
  ASSERT_EQ(found.classes.size(), 6u);
  for (const ClassResult& result : found.classes) {
    EXPECT_EQ(result.elements, 14 * kN) << result.name;  // rows 1 + 2 + 3 + 8
    EXPECT_EQ(result.error.elements, 14 * kN) << result.name;
    EXPECT_EQ(result.inexact, 0u) << result.name;
    // One rounding to bf16, and f32 sums of 100 terms beside it; not of what cancels to the last
    // bits of f32.
    EXPECT_TRUE(result.name == "cancelling" || result.error.max < 0.51) << result.name;
  }
}

TEST(Matrix, FindsAnotherOrderFromSomeRowsOn) {
  struct : Kernel {
    std::size_t lanes(std::uint32_t rows, std::uint32_t) override { return rows >= 3 ? 4 : 1; }
  } kernel;
  const Certificate found = prove(kernel, plan_of({1, 2, 3, 4}));
  EXPECT_EQ(held(found, "rows"), Held::kDiffer);
  EXPECT_EQ(invariance(found, "rows").first.rows, 3u);
  EXPECT_EQ(held(found, "row position"), Held::kEqual);
  EXPECT_EQ(held(found, "NaN neighbour"), Held::kEqual);
  EXPECT_EQ(held(found, "run to run"), Held::kEqual);
}

TEST(Matrix, FindsAnotherOrderInTheLastRow) {
  struct : Kernel {
    std::size_t lanes(std::uint32_t rows, std::uint32_t row) override {
      return row == 6 && rows == 7 ? 2 : 1;
    }
  } kernel;
  const Certificate found = prove(kernel, plan_of({1, 7, 8}));
  EXPECT_EQ(held(found, "row position"), Held::kDiffer);
  EXPECT_EQ(invariance(found, "row position").first.row, 6u);
  EXPECT_EQ(invariance(found, "row position").first.rows, 7u);
}

TEST(Matrix, FindsARowThatLeaksIntoAnother) {
  struct : Kernel {
    void run(Data data, std::uint32_t rows, ConstElements x, int which, Elements y) override {
      Kernel::run(data, rows, x, which, y);
      const float above = x.value((rows - 1) * kK);
      if (std::isinf(above)) y.set(0, above);
    }
  } kernel;
  const Certificate found = prove(kernel, plan_of({1, 5}));
  EXPECT_EQ(held(found, "Inf neighbour"), Held::kDiffer);
  EXPECT_EQ(invariance(found, "Inf neighbour").first.row, 0u);
  EXPECT_EQ(held(found, "NaN neighbour"), Held::kEqual);
  EXPECT_FALSE(batch_invariant(found));
}

TEST(Matrix, FindsARace) {
  struct : Kernel {
    std::size_t lanes(std::uint32_t, std::uint32_t) override { return 1 + dispatches_ % 2; }
  } kernel;
  EXPECT_EQ(held(prove(kernel, plan_of({1, 4})), "run to run"), Held::kDiffer);
}

TEST(Matrix, CountsWhatIsNeverWritten) {
  struct : Kernel {
    void run(Data data, std::uint32_t rows, ConstElements x, int which, Elements y) override {
      const std::uint32_t before = y.bits(1);
      Kernel::run(data, rows, x, which, y);
      y.set_bits(1, before);
    }
  } kernel;
  EXPECT_EQ(prove(kernel, plan_of({1, 2})).manners.unwritten, 2u * 6u);
}

TEST(Matrix, ACrashCostsOneCellAndIsTold) {
  struct : Kernel {
    void run(Data data, std::uint32_t rows, ConstElements x, int which, Elements y) override {
      if (x.bits(x.size() - 1) == 0x8001) fail(Blame::kArm, "it crashed");
      Kernel::run(data, rows, x, which, y);
    }
  } kernel;
  const Certificate found = prove(kernel, plan_of({1, 2}));
  EXPECT_EQ(held(found, "denormal neighbour"), Held::kNotTried);
  EXPECT_EQ(invariance(found, "denormal neighbour").why, "it crashed");
  EXPECT_EQ(held(found, "Inf neighbour"), Held::kEqual);
  EXPECT_EQ(found.failure, "it crashed");
  EXPECT_FALSE(proves_self(found));
}

TEST(Matrix, ComparesWithTheIncumbent) {
  struct : Kernel {
    std::size_t lanes(std::uint32_t rows, std::uint32_t) override { return rows > 1 ? 8 : 1; }
  } theirs;
  Kernel ours;
  const MatrixPlan plan = plan_of({1, 2, 4});
  const std::vector<Drawn> drawn = draw_all(plan);
  Certificate certificate = blank_certificate(), other = blank_certificate();
  const Recorded own = record(plan, drawn, ours.compute(), certificate);
  const Recorded incumbent = record(plan, drawn, theirs.compute(), other);
  compare_with_incumbent(drawn, own, incumbent, kN, certificate);
  const auto of = [&](std::string_view name) {
    return *std::ranges::find(certificate.classes, name, &ClassResult::name);
  };
  EXPECT_EQ(of("integers").differing, 0u);         // exact in any order
  EXPECT_GT(of("cancelling").differing, 2u * kN);  // of 6 rows in batches
  for (const ClassResult& result : certificate.classes)
    EXPECT_EQ(result.differing_one_row, 0u) << result.name;
  EXPECT_EQ(of("real").incumbent_error.elements, 7 * kN);
}

TEST(Matrix, OneRowHasNoNeighbours) {
  Kernel honest;
  const Certificate found = prove(honest, plan_of({1}));
  EXPECT_EQ(held(found, "rows"), Held::kEqual);
  EXPECT_EQ(held(found, "row position"), Held::kNotTried);
  EXPECT_EQ(invariance(found, "NaN neighbour").why, "one row has no neighbours");
}

}  // namespace
}  // namespace tare::prove
