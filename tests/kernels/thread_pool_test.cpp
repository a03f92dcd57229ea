#include "kernels/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

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

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
  return allowed;
}

// On a thread of its own: the pool pins its caller, too.
template <typename Body>
void on_another_thread(Body body) {
  std::thread(body).join();
}

TEST(ThreadPool, PinnedThreadsStayOnProcessorsOfTheirOwn) {
  const std::vector<int> allowed = allowed_processors();
  if (allowed.size() < 2) GTEST_SKIP() << "one processor";
  on_another_thread([&] {
    ThreadPool pool(2, ThreadPool::Placement::kPinned);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> processors(2, -1);
      pool.run([&](std::uint32_t index) { processors[index] = sched_getcpu(); });
      ASSERT_EQ(processors, (std::vector<int>{allowed[0], allowed[1]}));
    }
  });
  EXPECT_EQ(allowed_processors(), allowed);
}

TEST(ThreadPool, PinnedThreadsShareWhatThereIs) {
  on_another_thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed_processors().front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    ThreadPool pool(2, ThreadPool::Placement::kPinned);
    std::vector<int> calls(2, 0);
    for (int round = 0; round < 50; ++round) pool.run([&](std::uint32_t index) { ++calls[index]; });
    EXPECT_EQ(calls, std::vector<int>(2, 50));
  });
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
