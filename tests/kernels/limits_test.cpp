// That the floors do all of what they claim: every byte is read, every multiply-add is made.
#include "kernels/cpu/limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace tare::kernels {
namespace {

TEST(StreamKernels, DependOnEveryByte) {
  std::mt19937_64 random(7);
  for (const auto& kernel : stream_kernels()) {
    if (!kernel.runs_here()) continue;
    for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 512u, 2048u + 17u, 5000u}) {
      alignas(64) std::byte memory[5120];
      for (auto& one : memory) one = static_cast<std::byte>(random());
      const std::uint64_t before = kernel.read(memory, bytes);
      for (std::size_t i = 0; i < bytes; ++i) {
        memory[i] ^= std::byte{0x10};
        ASSERT_NE(kernel.read(memory, bytes), before)
            << kernel.name << ": byte " << i << " of " << bytes;
        memory[i] ^= std::byte{0x10};
      }
      memory[bytes] ^= std::byte{0x10};
      EXPECT_EQ(kernel.read(memory, bytes), before) << kernel.name << " reads past the end";
    }
  }
}

TEST(StreamKernels, OneWidthIsLeftOnEveryMachine) {
  const auto kernels = stream_kernels();
  const auto serves = [](const StreamKernel& one) {
    return one.runs_here() && !is_outclassed(one);
  };
  EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), serves));
  const StreamKernel& portable = kernels.back();
  const bool has_vectors = std::any_of(kernels.begin(), kernels.end() - 1,
                                       [](const StreamKernel& one) { return one.runs_here(); });
  EXPECT_EQ(is_outclassed(portable), has_vectors);
}

// Every turn adds 1/4 (one multiply-add a lane) or 2/4 (two) to each accumulator, which started at
// 0, 1, 2 ...: the sum tells how many were made.
void expect_counted(std::span<const PeakKernel> kernels) {
  for (const auto& kernel : kernels) {
    if (!kernel.runs_here()) continue;
    const float none = kernel.run(0);
    const float turn = kernel.run(1) - none;
    EXPECT_GT(turn, 0.0F) << kernel.name;
    EXPECT_EQ(kernel.run(kernel.step) - none, turn) << kernel.name;
    EXPECT_EQ(kernel.run(kernel.step + 1) - none, 2 * turn) << kernel.name;
    EXPECT_EQ(kernel.run(100 * kernel.step) - none, 100 * turn) << kernel.name;
  }
}

TEST(PeakKernels, MakeTheMultiplyAddsTheyWereAskedFor) {
  expect_counted(peak_kernels());
  expect_counted(int8_peak_kernels());
}

TEST(FastestPeak, RunsHere) {
  EXPECT_TRUE(fastest_peak(peak_kernels()).runs_here());
  EXPECT_TRUE(fastest_peak(int8_peak_kernels()).runs_here());
}

}  // namespace
}  // namespace tare::kernels
