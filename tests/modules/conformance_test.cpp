// What the C ABI demands of every module, whoever wrote it. Run for each built-in module, and for
// yours:
//   TARE_MODULE=./libmine.so test_modules_conformance
#include <random>

#include "tests/modules/drive.h"

namespace tare::tests {
namespace {

constexpr Bf16 kNan = 0x7fc1;
constexpr Bf16 kHuge = 0x7f00;
constexpr std::uint32_t kRowCounts[] = {1, 2, 3, 8, 31, 32};
constexpr std::uint32_t kMostRows = 32;

struct Shape {
  std::uint64_t k, n;
};
// The smallest; primes, so that every loop has a tail; a k/v projection of Qwen2.5-1.5B.
constexpr Shape kShapes[] = {{1, 1}, {257, 67}, {1536, 256}};

class Conformance : public testing::Test {
 protected:
  void SetUp() override {
    if (Module::under_test().arms.empty()) GTEST_SKIP() << Module::under_test().absent;
    for (const tare_arm* arm : Module::under_test().arms) {
      const tare_problem common = {64, 64, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
      const std::string why = refusal(*arm, common);
      if ((arm->flags & TARE_IS_LIMIT) != 0) continue;  // computes no result
      if (why.empty()) {
        arms.push_back(arm);
      } else {
        refused = why;
      }
    }
    if (arms.empty()) GTEST_SKIP() << "nothing to compute with: " << refused;
    RecordProperty("seed", std::to_string(seed));
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  }

  // Runs every slot twice into y, poisoned differently each time, and judges both.
  void check_all_slots(Executor& executor, const Data& data, std::uint32_t rows) {
    const Buffer y(rows * data.n);
    for (std::uint32_t slot = 0; slot < data.weights.size(); ++slot) {
      for (const Bf16 poison : {kNan, kHuge}) {
        y.fill(poison);
        executor.enqueue(slot, data.x, y);
        executor.fence();
        expect_product(y, data, rows, slot);
        ASSERT_TRUE(y.guard_intact()) << "written past the end of y";
      }
      if (HasFailure()) return;
    }
  }

  std::vector<const tare_arm*> arms;
  std::string refused;
  const std::uint64_t seed = std::random_device{}();
};

TEST_F(Conformance, ComputesTheProductAtEveryRowCount) {
  for (const Shape& shape : kShapes) {
    const Data data(shape.k, shape.n, kMostRows, 2, seed);
    for (const tare_arm* arm : arms) {
      SCOPED_TRACE(testing::Message() << arm->name << " " << shape.k << "x" << shape.n);
      const std::vector<Bf16> x = data.x.copy();
      for (const std::uint32_t rows : kRowCounts) {
        Executor executor(*arm, data, rows);
        if (executor.ready()) check_all_slots(executor, data, rows);
        if (HasFailure()) return;
      }
      EXPECT_EQ(data.x.copy(), x) << "x was written to";
    }
  }
}

TEST_F(Conformance, AddsABiasOrRefuses) {
  for (const Shape& shape : kShapes) {
    const Data data(shape.k, shape.n, kMostRows, 2, seed, true);
    for (const tare_arm* arm : arms) {
      SCOPED_TRACE(testing::Message() << arm->name << " " << shape.k << "x" << shape.n);
      tare_problem problem = data.problem(1);
      problem.bias = 99;
      EXPECT_NE(refusal(*arm, problem), "");
      if (const std::string why = refusal(*arm, data.problem(8)); !why.empty()) {
        std::printf("%s: %s\n", arm->name, why.c_str());
        continue;
      }
      Executor executor(*arm, data, 8);
      std::uint32_t rows = 8;
      for (const std::uint32_t next : {8U, 1U, 32U}) {
        if (executor.set_rows(next)) rows = next;
        check_all_slots(executor, data, rows);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Conformance, KeepsItsWeightsOverAChangeOfRowsOrRefuses) {
  for (const Shape& shape : kShapes) {
    const Data data(shape.k, shape.n, kMostRows, 2, seed);
    for (const tare_arm* arm : arms) {
      SCOPED_TRACE(testing::Message() << arm->name << " " << shape.k << "x" << shape.n);
      Executor executor(*arm, data, 8);
      std::uint32_t rows = 8;
      for (const std::uint32_t next : kRowCounts) {
        // After a refusal the executor still serves the rows it had.
        if (executor.set_rows(next)) rows = next;
        check_all_slots(executor, data, rows);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Conformance, LastDispatchIntoOneOutputWins) {
  for (const tare_arm* arm : arms) {
    SCOPED_TRACE(arm->name);
    const Data data(257, 67, 8, 3, seed);
    Executor executor(*arm, data, 8);
    const Buffer shared(8 * data.n), other(8 * data.n);
    shared.fill(kNan);
    other.fill(kNan);
    executor.enqueue(0, data.x, shared);
    executor.enqueue(1, data.x, other);
    executor.enqueue(2, data.x, shared);
    executor.enqueue(2, data.x, shared);
    executor.fence();
    expect_product(shared, data, 8, 2);
    expect_product(other, data, 8, 1);
  }
}

TEST_F(Conformance, ReadsNewActivationsInTheSameBufferAfterAFence) {
  for (const tare_arm* arm : arms) {
    SCOPED_TRACE(arm->name);
    Data data(257, 67, 2, 1, seed);
    Executor executor(*arm, data, 2);
    const Buffer y(2 * data.n);
    executor.enqueue(0, data.x, y);
    executor.fence();
    data.replace_x(seed + 77);
    y.fill(kNan);
    executor.enqueue(0, data.x, y);
    executor.fence();
    expect_product(y, data, 2, 0);
  }
}

TEST_F(Conformance, TwoExecutorsDoNotDisturbEachOther) {
  for (const tare_arm* arm : arms) {
    SCOPED_TRACE(arm->name);
    const Data one(257, 67, 3, 1, seed), two(64, 96, 2, 1, seed + 9);
    Executor first(*arm, one, 3), second(*arm, two, 2);
    const Buffer y1(3 * one.n), y2(2 * two.n);
    first.enqueue(0, one.x, y1);
    second.enqueue(0, two.x, y2);
    first.fence();
    second.fence();
    expect_product(y1, one, 3, 0);
    expect_product(y2, two, 2, 0);
  }
}

TEST_F(Conformance, TakesNoMemoryOfTheHostInTheTimedPath) {
  for (const tare_arm* arm : arms) {
    SCOPED_TRACE(arm->name);
    const Data data(257, 67, 8, 2, seed);
    Executor executor(*arm, data, 8);
    const Buffer y(8 * data.n);
    const std::int64_t before = Module::allocations();
    for (std::uint32_t i = 0; i < 10; ++i) executor.enqueue(i % 2, data.x, y);
    executor.fence();
    EXPECT_EQ(Module::allocations(), before);
  }
}

TEST_F(Conformance, ReturnsAllMemoryOfTheHost) {
  for (const tare_arm* arm : arms) {
    SCOPED_TRACE(arm->name);
    const Data data(257, 67, 8, 2, seed);
    const std::int64_t before = Module::held();
    const Buffer y(8 * data.n);
    for (int i = 0; i < 20; ++i) {
      Executor executor(*arm, data, 8);
      executor.enqueue(1, data.x, y);
      executor.fence();
      executor.set_rows(2);
    }
    EXPECT_EQ(Module::held(), before);
  }
}

TEST_F(Conformance, DestroysAnExecutorThatWasNeverBoundOrFenced) {
  for (const tare_arm* arm : arms) {
    const Data data(257, 67, 8, 2, seed);
    tare_executor* executor = nullptr;
    const tare_problem problem = data.problem(8);
    char why[256] = "";
    ASSERT_EQ(arm->prepare(&problem, 2, &executor, why, sizeof(why)), 0) << why;
    arm->destroy(executor);
    Executor unfenced(*arm, data, 8);
    const Buffer y(8 * data.n);
    unfenced.enqueue(0, data.x, y);
  }
}

TEST_F(Conformance, SaysWhatRan) {
  for (const tare_arm* arm : arms) {
    const Data data(1536, 256, 8, 1, seed);
    Executor executor(*arm, data, 8);
    const Buffer y(8 * data.n);
    executor.enqueue(0, data.x, y);
    executor.fence();
    const tare_dispatch_record record = executor.dispatched();
    std::printf("%s: kernel '%s', isa '%s', threads %u, library '%s', configuration '%s'\n",
                arm->name, record.kernel, record.isa, record.threads, record.library,
                record.configuration);
    EXPECT_STRNE(record.kernel, "");
    EXPECT_STRNE(record.library, "");
    EXPECT_GE(record.threads, (arm->flags & TARE_ON_DEVICE) != 0 ? 0u : 1u);
    EXPECT_LE(record.threads, Module::under_test().services().threads);
  }
}

TEST_F(Conformance, RefusesOtherTypesWithAReason) {
  const tare_problem right = {64, 64, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  for (const tare_arm* arm : arms) {
    SCOPED_TRACE(arm->name);
    for (std::uint32_t tare_problem::*field :
         {&tare_problem::weights, &tare_problem::activations, &tare_problem::output}) {
      for (const std::uint32_t type : {0u, 99u}) {
        tare_problem wrong = right;
        wrong.*field = type;
        EXPECT_NE(refusal(*arm, wrong), "") << "type " << type;
      }
    }
    tare_problem none = right;
    none.rows = 0;
    EXPECT_NE(refusal(*arm, none), "");
    EXPECT_EQ(refusal(*arm, right), "");
  }
}

TEST_F(Conformance, CutsItsReasonToTheRoomGiven) {
  for (const tare_arm* arm : arms) {
    const tare_problem wrong = {64, 64, 1, 99, TARE_BF16, TARE_BF16, TARE_F32, 0};
    char why[8] = "zzzzzzz";
    EXPECT_NE(arm->supports(&wrong, why, 4), 0);
    EXPECT_EQ(why[3], '\0');
    EXPECT_EQ(why[4], 'z');
    EXPECT_NE(arm->supports(&wrong, nullptr, 0), 0);
  }
}

TEST(Identity, IsWellFormed) {
  const Module& module = Module::under_test();
  if (module.arms.empty()) GTEST_SKIP() << module.absent;
  for (const tare_arm* arm : module.arms) {
    EXPECT_EQ(arm->abi, TARE_ARM_ABI);
    EXPECT_STRNE(arm->name, "");
    EXPECT_STRNE(arm->title, "");
    EXPECT_NE(arm->version, nullptr);
  }
}

}  // namespace
}  // namespace tare::tests
