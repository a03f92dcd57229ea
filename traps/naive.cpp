#include "traps/naive.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "prove/compare.h"
#include "prove/oracle.h"

namespace tare::traps {
namespace {

using prove::Bf16;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeed = 11;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- memory that an arm is offered

bool& on_small_pages() {
  static bool small = false;
  return small;
}

void* allocate(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t whole = (bytes + 4095) / 4096 * 4096;
  void* memory = std::aligned_alloc(whole >= kHugePage ? kHugePage : 4096, whole);
  if (memory == nullptr) return nullptr;
  madvise(memory, whole, on_small_pages() ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  std::memset(memory, 0, whole);
  return memory;
}

// ---- one arm, driven without walls

class Arm {
 public:
  Arm(const NaivePlan& plan, const std::string& path) : plan_(plan), arm_(load(path)) {
    static tare_services services{TARE_ARM_ABI, plan.threads, allocate, std::free};
    require(arm_.open(&services, why_, sizeof why_));
  }

  void prepare(const std::vector<std::vector<Bf16>>& weights) {
    const tare_problem problem{plan_.k,   plan_.n,   plan_.rows, TARE_BF16,
                               TARE_BF16, TARE_BF16, TARE_F32,   0};
    require(arm_.prepare(&problem, static_cast<std::uint32_t>(weights.size()), &executor_, why_,
                         sizeof why_));
    for (std::uint32_t slot = 0; slot < weights.size(); ++slot)
      require(arm_.bind(executor_, slot, weights[slot].data(), why_, sizeof why_));
  }
  void enqueue(std::uint32_t slot, const void* x, void* y) {
    require(arm_.enqueue(executor_, slot, x, y));
  }
  void fence() { require(arm_.fence(executor_)); }
  void stage(const tare_region& region) {
    require(device().stage(executor_, &region, why_, sizeof why_));
  }
  void launch() { require(device().launch(executor_)); }
  double collect() {
    double seconds = 0;
    require(device().collect(executor_, &seconds, why_, sizeof why_));
    return seconds;
  }
  void destroy() { arm_.destroy(executor_); }

 private:
  const tare_device_arm& device() const {
    if ((arm_.flags & TARE_ON_DEVICE) == 0) fail(Blame::kArm, "{} has no device", arm_.name);
    return reinterpret_cast<const tare_device_arm&>(arm_);
  }
  static const tare_arm& load(const std::string& path) {
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) fail(Blame::kArm, "{}", dlerror());
    auto* entry =
        reinterpret_cast<const tare_arm* (*)(std::uint32_t)>(dlsym(module, TARE_ARM_ENTRY));
    if (entry == nullptr) fail(Blame::kArm, "{} has no {}", path, TARE_ARM_ENTRY);
    return *entry(0);
  }
  void require(int result) {
    if (result != 0) fail(Blame::kArm, "{}", why_);
  }

  const NaivePlan& plan_;
  const tare_arm& arm_;
  tare_executor* executor_ = nullptr;
  char why_[256] = "it gave no reason";
};

// ---- the loop

struct Data {
  std::vector<std::vector<Bf16>> weights;
  std::vector<Bf16> x, y;
  std::vector<double> truth;  // of the last copy dispatched
};

void scale(std::vector<Bf16>& values, float factor) {
  for (Bf16& value : values) value = prove::to_bf16(factor * prove::to_float(value));
}

Data make_data(const NaivePlan& plan) {
  Data data;
  data.weights.resize(plan.copies);
  for (std::uint32_t slot = 0; slot < plan.copies; ++slot) {
    data.weights[slot].resize(plan.k * plan.n);
    if (!plan.zero_weights) prove::generate_weights(kSeed, slot, 0, data.weights[slot]);
  }
  data.x.resize(plan.rows * plan.k);
  data.y.resize(plan.rows * plan.n);
  prove::generate_activations(kSeed, 0, 0, data.x);
  scale(data.x, plan.x_scale);
  return data;
}

std::vector<double> truth_of(const NaivePlan& plan, const Data& data, std::uint32_t slot) {
  std::vector<prove::Element> elements;
  for (std::uint32_t row = 0; row < plan.rows; ++row)
    for (std::uint64_t output = 0; output < plan.n; ++output) elements.push_back({row, output});
  if (plan.zero_weights) return std::vector<double>(elements.size(), 0.0);
  return prove::oracle(data.x, {TARE_BF16, plan.k, plan.n, kSeed, slot}, elements);
}

void overwrite(std::vector<char>& flush) {
  static char value = 0;
  std::ranges::fill(flush, ++value);
}

class Loop {
 public:
  Loop(const NaivePlan& plan, Data& data, const std::string& module)
      : plan_(plan), data_(data), arm_(plan, module), flush_(plan.flush_bytes) {}

  NaiveResult run() {
    NaiveResult result;
    const auto start = Clock::now();
    if (!plan_.prepare_inside) arm_.prepare(data_.weights);
    result.prepare_seconds = seconds_since(start);
    if (plan_.warm_up) sample();
    next_ = 0;
    if (plan_.right_answer_left_in_y) leave_right_answer();
    for (std::uint32_t i = 0; i < plan_.samples; ++i) {
      if (plan_.restart_after > 0 && i % plan_.restart_after == 0) next_ = 0;
      result.seconds.push_back(sample());
    }
    if (plan_.check != nullptr) result.passed = plan_.check(data_.y, truth_of(plan_, data_, last_));
    return result;
  }

 private:
  // Region of a device arm: staging and collecting are not timed.
  double staged_sample() {
    std::vector<tare_dispatch> dispatches(plan_.dispatches);
    for (tare_dispatch& dispatch : dispatches) {
      last_ = next_++ % plan_.copies;
      dispatch = {last_, data_.x.data(), data_.y.data()};
    }
    const std::size_t bytes = sizeof(Bf16);
    arm_.stage({dispatches.data(), dispatches.size(), data_.x.data(), bytes * data_.x.size(),
                data_.y.data(), bytes * data_.y.size(),
                plan_.one_by_one ? std::uint32_t{TARE_REGION_STREAM} : 0U});
    const auto start = Clock::now();
    arm_.launch();
    arm_.fence();
    const double seconds = seconds_since(start);
    const double on_device = arm_.collect();
    return plan_.device_clock ? on_device : seconds;
  }

  double sample() {
    if (plan_.staged) return staged_sample();
    const auto start = Clock::now();
    if (!flush_.empty()) overwrite(flush_);
    if (plan_.prepare_inside) arm_.prepare(data_.weights);
    for (std::uint32_t i = 0; i < plan_.dispatches; ++i) {
      last_ = next_++ % plan_.copies;
      arm_.enqueue(last_, data_.x.data(), data_.y.data());
    }
    arm_.fence();
    if (plan_.prepare_inside) arm_.destroy();
    return seconds_since(start);
  }
  void leave_right_answer() {
    const std::vector<double> truth = truth_of(plan_, data_, 0);
    for (std::size_t i = 0; i < truth.size(); ++i)
      data_.y[i] = prove::to_bf16(static_cast<float>(truth[i]));
  }

  const NaivePlan& plan_;
  Data& data_;
  Arm arm_;
  std::vector<char> flush_;
  std::uint32_t next_ = 0, last_ = 0;
};

// ---- the process around it

void write_all(int to, const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = write(to, at, bytes);
    if (written <= 0) _exit(1);
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

bool read_all(int from, void* into, std::size_t bytes) {
  char* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = read(from, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// A result crosses the pipe as: passed, seconds of preparing, number of samples, samples.
void send(int pipe, const NaiveResult& result) {
  const double head[3] = {result.passed ? 1.0 : 0.0, result.prepare_seconds,
                          static_cast<double>(result.seconds.size())};
  write_all(pipe, head, sizeof head);
  write_all(pipe, result.seconds.data(), result.seconds.size() * sizeof(double));
}

bool receive(int pipe, NaiveResult& result) {
  double head[3];
  if (!read_all(pipe, head, sizeof head)) return false;
  result.passed = head[0] != 0;
  result.prepare_seconds = head[1];
  result.seconds.resize(static_cast<std::size_t>(head[2]));
  return read_all(pipe, result.seconds.data(), result.seconds.size() * sizeof(double));
}

[[noreturn]] void be_the_harness(const NaivePlan& plan, const std::vector<std::string>& modules,
                                 int pipe) {
  alarm(60);  // some lies hang
  for (const char* variable : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    setenv(variable, std::to_string(plan.threads).c_str(), 1);
  on_small_pages() = plan.small_pages;
  try {
    Data data = make_data(plan);
    for (const std::string& module : modules) send(pipe, Loop(plan, data, module).run());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tare: the naive harness: {}\n", error.what());
    _exit(1);
  }
  _exit(0);
}

std::string manner_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

double NaiveResult::mean() const {
  if (seconds.empty()) return 0;
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double NaiveResult::least() const {
  return seconds.empty() ? 0 : *std::ranges::min_element(seconds);
}

double NaiveResult::median() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

std::vector<NaiveResult> run_naively(const NaivePlan& plan,
                                     const std::vector<std::string>& modules) {
  int ends[2];
  if (pipe(ends) != 0) fail(Blame::kMachine, "No pipe: {}.", std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) fail(Blame::kMachine, "No process: {}.", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    be_the_harness(plan, modules, ends[1]);
  }
  close(ends[1]);
  std::vector<NaiveResult> results(modules.size());
  std::size_t done = 0;
  while (done < results.size() && receive(ends[0], results[done])) ++done;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (done < results.size()) results[done].died = manner_of(status);
  return results;
}

bool all_close(std::span<const Bf16> y, std::span<const double> truth, double absolute,
               double relative) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = std::fabs(prove::to_float(y[i]) - truth[i]);
    if (!(error <= absolute + relative * std::fabs(truth[i]))) return false;
  }
  return true;
}

bool close_enough(std::span<const Bf16> y, std::span<const double> truth) {
  return all_close(y, truth, 1e-2, 1e-2);
}

}  // namespace tare::traps
