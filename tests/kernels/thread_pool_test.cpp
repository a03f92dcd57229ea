#include "kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tare::kernels {
namespace {

TEST(ThreadPool, GivesEveryIndexOnceAndTheFirstToTheCaller) {
  for (const std::uint32_t threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::vector<int> calls(threads, 0);
    std::thread::id first;
    for (int round = 0; round < 200; ++round) {
      pool.run([&](std::uint32_t index) {
        ++calls[index];
        if (index == 0) first = std::this_thread::get_id();
      });
    }
    EXPECT_EQ(calls, std::vector<int>(threads, 200));
    EXPECT_EQ(first, std::this_thread::get_id());
  }
}

TEST(ThreadPool, GivesAThreadTheSameIndexEveryTime) {
  ThreadPool pool(3);
  std::vector<std::thread::id> first(3), later(3);
  pool.run([&](std::uint32_t index) { first[index] = std::this_thread::get_id(); });
  for (int round = 0; round < 50; ++round) {
    pool.run([&](std::uint32_t index) { later[index] = std::this_thread::get_id(); });
    ASSERT_EQ(first, later);
  }
}

TEST(ThreadPool, MakesTheWritesOfATaskVisible) {
  ThreadPool pool(2);
  std::uint64_t last = 0;  // plain: a race would show under the thread sanitizer
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    pool.run([&](std::uint32_t index) {
      if (index == 1) last = round;
    });
    ASSERT_EQ(last, round);
  }
}

TEST(ThreadPool, EndsWithoutEverHavingWorked) {
  const ThreadPool pool(4);
}

TEST(SliceOf, CoversEverythingOnceAndEvenly) {
  for (const std::uint64_t count : {0u, 1u, 3u, 24u, 25u, 64u}) {
    for (const std::uint32_t parts : {1u, 2u, 3u, 8u}) {
      std::uint64_t next = 0;
      for (std::uint32_t index = 0; index < parts; ++index) {
        const Slice slice = slice_of(count, parts, index);
        EXPECT_EQ(slice.first, next);
        EXPECT_LE(slice.last - slice.first, count / parts + 1);
        next = slice.last;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace tare::kernels
