#include "tests/modules/drive.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <utility>

namespace tare::tests {
namespace {

constexpr std::size_t kGuard = 64;  // values
constexpr Bf16 kGuardValue = 0x5ca1;
constexpr std::uint32_t kThreads = 2;

std::size_t bytes_for(std::size_t count) {
  const std::size_t bytes = (count + kGuard) * sizeof(Bf16);
  return (bytes + 63) / 64 * 64;
}

std::int64_t& held_count() {
  static std::int64_t count = 0;
  return count;
}
std::int64_t& allocation_count() {
  static std::int64_t count = 0;
  return count;
}

void* allocate(std::size_t bytes) {
  const std::size_t rounded = (bytes + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, rounded);
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, rounded);
  ++held_count();
  ++allocation_count();
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) --held_count();
  std::free(memory);
}

std::string module_path() {
  const char* chosen = std::getenv("TARE_MODULE");
  return chosen != nullptr && *chosen != '\0' ? chosen : default_module();
}

}  // namespace

float to_float(Bf16 bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<Bf16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

Buffer::Buffer(std::size_t count)
    : count_(count), values_(static_cast<Bf16*>(std::aligned_alloc(64, bytes_for(count)))) {
  std::fill(values_, values_ + bytes_for(count) / sizeof(Bf16), kGuardValue);
}

Buffer::Buffer(Buffer&& other) noexcept
    : count_(other.count_), values_(std::exchange(other.values_, nullptr)) {}

void Buffer::fill(Bf16 value) const {
  std::fill(values_, values_ + count_, value);
}

bool Buffer::guard_intact() const {
  return std::all_of(values_ + count_, values_ + bytes_for(count_) / sizeof(Bf16),
                     [](Bf16 value) { return value == kGuardValue; });
}

Buffer random_values(std::size_t count, double deviation, std::uint64_t seed) {
  Buffer values(count);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    double sum = -2.0;  // four uniform values in [0, 1): variance 4/12
    for (int part = 0; part < 4; ++part) {
      sum += static_cast<double>((bits >> (16 * part)) & 0xffff) / 65536;
    }
    values[i] = to_bf16(static_cast<float>(sum * deviation * std::sqrt(3.0)));
  }
  return values;
}

namespace {

// Where a bias begins behind so many weights: at a multiple of 64 bytes.
std::size_t place_of_bias(std::size_t count) {
  return (count + 31) / 32 * 32;
}

// `bias`: of so many elements.
std::vector<Buffer> random_weights(std::size_t count, std::size_t bias, std::uint32_t slots,
                                   std::uint64_t seed) {
  std::vector<Buffer> weights;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    weights.push_back(random_values(count, 0.02, seed + 1 + slot));
    if (bias == 0) continue;
    const Buffer added = random_values(bias, 1.0, seed + 1001 + slot);
    Buffer both(place_of_bias(count) + bias);
    std::copy_n(weights.back().data(), count, both.data());
    std::copy_n(added.data(), bias, both.data() + place_of_bias(count));
    weights.pop_back();
    weights.push_back(std::move(both));
  }
  return weights;
}

std::vector<double> doubles(const Buffer& values) {
  std::vector<double> wide(values.size());
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = to_float(values[i]);
  return wide;
}

Exact exact_dot(const double* x, const double* w, std::uint64_t k) {
  Exact dot;
  for (std::uint64_t i = 0; i < k; ++i) {
    const double product = x[i] * w[i];
    dot.value += product;
    dot.magnitude += std::abs(product);
  }
  return dot;
}

}  // namespace

Data::Data(std::uint64_t k_, std::uint64_t n_, std::uint32_t rows, std::uint32_t slots,
           std::uint64_t seed, bool biased_)
    : k(k_),
      n(n_),
      biased(biased_),
      x(random_values(rows * k_, 1.0, seed)),
      weights(random_weights(n_ * k_, biased_ ? n_ : 0, slots, seed)) {
  compute_exact();
}

tare_problem Data::problem(std::uint32_t rows) const {
  const std::uint32_t bias = biased ? TARE_BF16 : 0;
  return {k, n, rows, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, bias};
}

void Data::replace_x(std::uint64_t seed) {
  const Buffer fresh = random_values(x.size(), 3.0, seed);
  std::copy(fresh.data(), fresh.data() + fresh.size(), x.data());
  compute_exact();
}

const Exact& Data::exact(std::uint32_t slot, std::uint64_t row, std::uint64_t output) const {
  return exact_[slot][row * n + output];
}

void Data::compute_exact() {
  exact_.clear();
  const std::vector<double> wide_x = doubles(x);
  for (const Buffer& slot : weights) {
    const std::vector<double> wide_w = doubles(slot);
    exact_.emplace_back();
    for (std::uint64_t row = 0; row < x.size() / k; ++row) {
      for (std::uint64_t output = 0; output < n; ++output) {
        Exact exact = exact_dot(&wide_x[row * k], &wide_w[output * k], k);
        const double bias = biased ? wide_w[place_of_bias(n * k) + output] : 0;
        exact.value += bias;
        exact.magnitude += std::abs(bias);
        exact_.back().push_back(exact);
      }
    }
  }
}

Module& Module::under_test() {
  static Module module;
  return module;
}

Module::Module() : services_{TARE_ARM_ABI, kThreads, allocate, release} {
  const std::string path = module_path();
  if (!std::filesystem::exists(path)) {
    absent = "no module at '" + path + "': it was not built";
    return;
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    absent = dlerror();
    // Libraries of a device's driver are where the device is.
    if (std::getenv("TARE_MODULE_MAY_NOT_LOAD") == nullptr) ADD_FAILURE() << absent;
    return;
  }
  using Entry = const tare_arm* (*)(std::uint32_t);
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, TARE_ARM_ENTRY));
  if (entry == nullptr) {
    absent = path + " does not export " TARE_ARM_ENTRY;
    ADD_FAILURE() << absent;
    return;
  }
  for (std::uint32_t index = 0; const tare_arm* arm = entry(index); ++index) {
    char why[256] = "";
    if (arm->open(&services_, why, sizeof(why)) == 0) {
      arms.push_back(arm);
    } else {
      absent = why;
    }
  }
}

std::int64_t Module::held() {
  return held_count();
}
std::int64_t Module::allocations() {
  return allocation_count();
}

Executor::Executor(const tare_arm& arm, const Data& data, std::uint32_t rows) : arm_(arm) {
  char why[256] = "";
  const tare_problem problem = data.problem(rows);
  const auto slots = static_cast<std::uint32_t>(data.weights.size());
  if (arm_.prepare(&problem, slots, &executor_, why, sizeof(why)) != 0) {
    executor_ = nullptr;
    ADD_FAILURE() << arm_.name << ": prepare: " << why;
    return;
  }
  const bool in_place = (arm_.flags & TARE_READS_WEIGHTS_IN_PLACE) != 0;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    lent_.emplace_back(data.weights[slot].size());
    std::memcpy(lent_.back().data(), data.weights[slot].data(),
                data.weights[slot].size() * sizeof(Bf16));
    EXPECT_EQ(arm_.bind(executor_, slot, lent_.back().data(), why, sizeof(why)), 0)
        << arm_.name << ": bind: " << why;
    if (!in_place) lent_.pop_back();
  }
}

Executor::~Executor() {
  if (executor_ != nullptr) arm_.destroy(executor_);
}

bool Executor::set_rows(std::uint32_t rows) {
  if (arm_.set_rows == nullptr) return false;
  char why[256] = "";
  if (arm_.set_rows(executor_, rows, why, sizeof(why)) == 0) return true;
  EXPECT_STRNE(why, "") << arm_.name << " refused another row count without a reason";
  return false;
}

void Executor::enqueue(std::uint32_t slot, const Buffer& x, const Buffer& y) {
  EXPECT_EQ(arm_.enqueue(executor_, slot, x.data(), y.data()), 0) << arm_.name << ": enqueue";
}

void Executor::fence() {
  EXPECT_EQ(arm_.fence(executor_), 0) << arm_.name << ": fence";
}

tare_dispatch_record Executor::dispatched() const {
  tare_dispatch_record record = {};
  EXPECT_EQ(arm_.dispatched(executor_, &record), 0) << arm_.name << ": dispatched";
  return record;
}

std::string refusal(const tare_arm& arm, const tare_problem& problem) {
  char why[256] = "";
  if (arm.supports(&problem, why, sizeof(why)) == 0) return "";
  return *why == '\0' ? "(no reason given)" : why;
}

namespace {

// The distance from |value| to the next larger bf16 value.
double bf16_step(double value) {
  if (value == 0) return std::ldexp(1.0, -133);
  return std::ldexp(1.0, std::max(std::ilogb(value), -126) - 7);
}

}  // namespace

std::size_t count_wrong(const Buffer& y, const Data& data, std::uint32_t rows, std::uint32_t slot,
                        std::string* first) {
  std::size_t wrong = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t output = 0; output < data.n; ++output) {
      const Exact& dot = data.exact(slot, row, output);
      const double sums = static_cast<double>(data.k) * std::ldexp(dot.magnitude, -24);
      const double allowed = 0.5 * bf16_step(std::abs(dot.value) + sums) + sums;
      const double got = to_float(y[row * data.n + output]);
      if (std::abs(got - dot.value) <= allowed) continue;  // false for NaN
      if (++wrong > 1 || first == nullptr) continue;
      std::ostringstream text;
      text << "y[" << row << ", " << output << "] = " << got << ", exactly " << dot.value
           << ", allowed error " << allowed << " (k " << data.k << ", n " << data.n << ", rows "
           << rows << ", slot " << slot << ")";
      *first = text.str();
    }
  }
  return wrong;
}

void expect_product(const Buffer& y, const Data& data, std::uint32_t rows, std::uint32_t slot) {
  std::string first;
  EXPECT_EQ(count_wrong(y, data, rows, slot, &first), 0u) << first;
}

}  // namespace tare::tests
