// Drives one module through the C ABI inside the test's own process, and judges its results against
// dot products in double, computed here. One test program loads one module: two libraries must not
// share a process.
//
// The module is the file named by the environment variable TARE_MODULE, or else the one the program
// was built for.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tare/arm.h"

namespace tare::tests {

using Bf16 = std::uint16_t;  // bit pattern

float to_float(Bf16 bits);
Bf16 to_bf16(float value);  // nearest even; finite values only

// 64-byte aligned bf16 values with a guard zone behind them, so that a write past the end shows.
class Buffer {
 public:
  explicit Buffer(std::size_t count);
  ~Buffer() { std::free(values_); }
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;

  Bf16* data() const { return values_; }
  std::size_t size() const { return count_; }
  Bf16& operator[](std::size_t i) const { return values_[i]; }
  void fill(Bf16 value) const;
  std::vector<Bf16> copy() const { return {values_, values_ + count_}; }
  bool guard_intact() const;

 private:
  std::size_t count_;
  Bf16* values_;
};

// Bell-shaped values: a sum of uniform ones, scaled to the standard deviation, rounded to bf16.
Buffer random_values(std::size_t count, double deviation, std::uint64_t seed);

// A dot product in double, and the sum of its products' magnitudes: the scale of what f32 sums can
// lose.
struct Exact {
  double value = 0;
  double magnitude = 0;
};

// What a test needs of one shape: activations of `rows`, the weights of each slot, and the exact
// outputs.
class Data {
 public:
  // `biased`: with a bias of bf16 of about 1, as tare_problem::bias says.
  Data(std::uint64_t k, std::uint64_t n, std::uint32_t rows, std::uint32_t slots,
       std::uint64_t seed, bool biased = false);

  tare_problem problem(std::uint32_t rows) const;
  void replace_x(std::uint64_t seed);  // other values in the same buffer
  const Exact& exact(std::uint32_t slot, std::uint64_t row, std::uint64_t output) const;

  const std::uint64_t k, n;
  const bool biased;
  const Buffer x;
  const std::vector<Buffer> weights;  // as bind() gets them

 private:
  void compute_exact();
  std::vector<std::vector<Exact>> exact_;  // [slot][row * n + output]
};

// The module this program was built for (default_module.cpp, compiled once a program).
const char* default_module();

// The module under test. Loads it on first use and opens each of its arms with services that count.
class Module {
 public:
  static Module& under_test();

  std::vector<const tare_arm*> arms;  // empty: see `absent`
  std::string absent;                 // why there is nothing to test
  const tare_services& services() const { return services_; }

  // Allocations of services->allocate that were not yet released, and all that were ever made.
  static std::int64_t held();
  static std::int64_t allocations();

 private:
  Module();
  tare_services services_;
};

// One prepared executor; fails the test where the module reports an error.
class Executor {
 public:
  Executor(const tare_arm& arm, const Data& data, std::uint32_t rows);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  bool ready() const { return executor_ != nullptr; }
  bool set_rows(std::uint32_t rows);  // false: the module refused, with a reason
  void enqueue(std::uint32_t slot, const Buffer& x, const Buffer& y);
  void fence();
  tare_dispatch_record dispatched() const;

 private:
  const tare_arm& arm_;
  tare_executor* executor_ = nullptr;
  // Where the module packs, the weights handed to bind() are destroyed afterwards, as the contract
  // allows.
  std::vector<Buffer> lent_;
};

// Refused problems: a reason, or "" when the module would compute it.
std::string refusal(const tare_arm& arm, const tare_problem& problem);

// How many y[row, output] lie outside the rounding of one bf16 store plus the error of any order of
// f32 sums: half a bf16 step of the exact value, and k * 2^-24 times the sum of the products'
// magnitudes. `first` describes the first.
std::size_t count_wrong(const Buffer& y, const Data& data, std::uint32_t rows, std::uint32_t slot,
                        std::string* first = nullptr);
void expect_product(const Buffer& y, const Data& data, std::uint32_t rows, std::uint32_t slot);

}  // namespace tare::tests
