#include "device/huge_arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "device/pages.h"

namespace tare::device {
namespace {

bool is_zero(const void* memory, std::size_t bytes) {
  const auto* begin = static_cast<const unsigned char*>(memory);
  return std::all_of(begin, begin + bytes, [](unsigned char byte) { return byte == 0; });
}

TEST(HugeArena, PiecesAreAlignedZeroedAndApart) {
  HugeArena arena;
  std::vector<std::pair<char*, std::size_t>> pieces;
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 4097, 1 << 20}) {
    char* const piece = static_cast<char*>(arena.allocate(bytes));
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % HugeArena::kAlignment, 0u);
    EXPECT_TRUE(is_zero(piece, bytes));
    for (const auto& [other, size] : pieces)
      EXPECT_TRUE(piece >= other + std::max<std::size_t>(size, 1) ||
                  other >= piece + std::max<std::size_t>(bytes, 1));
    std::memset(piece, 0xab, bytes);
    pieces.emplace_back(piece, bytes);
  }
  EXPECT_EQ(arena.bytes_reserved(), HugeArena::kChunkBytes);
  EXPECT_EQ(arena.bytes_in_use(), 64u + 64 + 64 + 64 + 128 + 4160 + (1 << 20));
}

TEST(HugeArena, ReleasedMemoryIsReusedAndZeroedAgain) {
  HugeArena arena;
  void* const first = arena.allocate(1 << 20);
  ASSERT_NE(first, nullptr);
  std::memset(first, 0xcd, 1 << 20);
  EXPECT_TRUE(arena.release(first));
  EXPECT_EQ(arena.bytes_in_use(), 0u);
  const std::uint64_t faults = page_faults();
  void* const second = arena.allocate(1 << 20);
  EXPECT_EQ(second, first);
  EXPECT_TRUE(is_zero(second, 1 << 20));
#if !defined(__SANITIZE_THREAD__)  // its shadow of this memory faults
  EXPECT_LT(page_faults() - faults, 16u) << "memory that was touched before must not fault again";
#endif
  EXPECT_EQ(arena.bytes_reserved(), HugeArena::kChunkBytes);
}

TEST(HugeArena, NoMoreThanItsPiecesIsTouched) {
  HugeArena arena;
  const auto start = reinterpret_cast<std::uintptr_t>(arena.allocate(3 << 20));
  ASSERT_NE(start, 0u);
  std::vector<unsigned char> resident(HugeArena::kChunkBytes / 4096);
  const std::uintptr_t chunk = start / (2 << 20) * (2 << 20);
  ASSERT_EQ(mincore(reinterpret_cast<void*>(chunk), HugeArena::kChunkBytes, resident.data()), 0);
  const auto pages = std::ranges::count_if(resident, [](unsigned char page) { return page & 1; });
  EXPECT_EQ(pages, (4 << 20) / 4096);
  const std::uint64_t before = page_faults();
  std::memset(reinterpret_cast<void*>(start), 1, 3 << 20);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // shadows fault
  EXPECT_LT(page_faults() - before, 16u) << "what is given out must not fault";
#endif
}

TEST(HugeArena, NeighboursThatComeBackAreOneAgain) {
  HugeArena arena;
  constexpr std::size_t kThird = HugeArena::kChunkBytes / 4;
  void* pieces[4];
  for (void*& piece : pieces) ASSERT_NE(piece = arena.allocate(kThird), nullptr);
  for (const int index : {1, 3, 0, 2}) EXPECT_TRUE(arena.release(pieces[index]));
  EXPECT_EQ(arena.allocate(HugeArena::kChunkBytes), pieces[0]);
  EXPECT_EQ(arena.bytes_reserved(), HugeArena::kChunkBytes);
}

TEST(HugeArena, TheTightestHoleIsTaken) {
  HugeArena arena;
  void* const large = arena.allocate(1 << 20);
  void* const wall = arena.allocate(64);
  void* const small = arena.allocate(4096);
  void* const end = arena.allocate(64);
  ASSERT_TRUE(large && wall && small && end);
  arena.release(large);
  arena.release(small);
  EXPECT_EQ(arena.allocate(4096), small);
  EXPECT_EQ(arena.allocate(4096), large);
}

TEST(HugeArena, ALargeRequestGetsAChunkOfItsOwn) {
  HugeArena arena;
  void* const small = arena.allocate(64);
  void* const large = arena.allocate(HugeArena::kChunkBytes + 1);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % (2 << 20), 0u);
  EXPECT_EQ(arena.bytes_reserved(), 3 * HugeArena::kChunkBytes);
  arena.release(large);
  arena.trim();
  EXPECT_EQ(arena.bytes_reserved(), HugeArena::kChunkBytes);
  arena.release(small);
  arena.trim();
  EXPECT_EQ(arena.bytes_reserved(), 0u);
  EXPECT_NE(arena.allocate(64), nullptr);
}

TEST(HugeArena, WhatNoMachineHasIsRefused) {
  HugeArena arena;
  for (const std::size_t bytes :
       {std::size_t{1} << 60, std::size_t{1} << 45, SIZE_MAX, SIZE_MAX - 63})
    EXPECT_EQ(arena.allocate(bytes), nullptr) << bytes;
  EXPECT_EQ(arena.bytes_reserved(), 0u);
  EXPECT_NE(arena.allocate(64), nullptr) << "a refusal must not spoil the arena";
}

TEST(HugeArena, StrangersAndSecondReleasesAreRefused) {
  HugeArena arena;
  int stranger = 0;
  char* const piece = static_cast<char*>(arena.allocate(128));
  EXPECT_FALSE(arena.release(&stranger));
  EXPECT_FALSE(arena.release(piece + 64));
  EXPECT_TRUE(arena.release(piece));
  EXPECT_FALSE(arena.release(piece));
  EXPECT_TRUE(arena.release(nullptr));
}

// Allocates and releases at random, and checks that nobody else writes into what it holds.
void use(HugeArena& arena, unsigned seed) {
  std::mt19937 random(seed);
  struct Held {
    unsigned char* piece;
    std::size_t bytes;
  };
  std::vector<Held> held;
  const auto mark = static_cast<unsigned char>(seed % 251 + 1);
  const auto drop = [&](std::size_t index) {
    const Held one = held[index];
    EXPECT_TRUE(std::all_of(one.piece, one.piece + one.bytes,
                            [&](unsigned char byte) { return byte == mark; }));
    EXPECT_TRUE(arena.release(one.piece));
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
  };
  for (int turn = 0; turn < 300; ++turn) {
    if (held.size() > 8) drop(random() % held.size());
    const std::size_t bytes = random() % 20000;
    auto* const piece = static_cast<unsigned char*>(arena.allocate(bytes));
    ASSERT_NE(piece, nullptr);
    EXPECT_TRUE(is_zero(piece, bytes));
    std::memset(piece, mark, bytes);
    held.push_back({piece, bytes});
  }
  while (!held.empty()) drop(held.size() - 1);
}

TEST(HugeArena, ThreadsShareIt) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  HugeArena arena;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 4; ++i)
      threads.emplace_back([&arena, seed, i] { use(arena, seed + i); });
  }
  EXPECT_EQ(arena.bytes_in_use(), 0u);
  EXPECT_NE(arena.allocate(HugeArena::kChunkBytes), nullptr);
  EXPECT_EQ(arena.bytes_reserved(), HugeArena::kChunkBytes) << "all holes must have joined";
}

TEST(HugeArena, OneForTheProcess) {
  EXPECT_EQ(&huge_arena(), &huge_arena());
}

}  // namespace
}  // namespace tare::device
