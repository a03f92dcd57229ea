#include "device/accelerator.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/diagnosis.h"

namespace tare::device {
namespace {

// The driver API's names, as its manual states them: the toolkit's headers need not be there.
using DriverResult = int;
using DriverDevice = int;
constexpr DriverResult kSuccess = 0, kNoDevice = 100;
constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76;
constexpr int kNeededDriver = 13000;  // the CUDA version that modules are built with
constexpr int kLeastMajor = 8;
// A GPU's L2 does not forget in order: of a ring of 4.3 times an H200's, a sixth was still found
// there (docs/kernels/cuda-limits.md).
constexpr std::uint64_t kRingCaches = 16;
constexpr std::uint64_t kSmallestRing = 256U << 20U;

// A library of the driver, opened for good: CUDA does not survive an unload.
class Library {
 public:
  explicit Library(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool found() const { return handle_ != nullptr; }

  template <typename Function>
  Function* function(const char* name) const {
    return found() ? reinterpret_cast<Function*>(dlsym(handle_, name)) : nullptr;
  }

 private:
  void* handle_;
};

class Driver {
 public:
  explicit Driver(const std::string& name) : library_(name), name_(name) {
    if (!library_.found())
      fail(Blame::kMachine,
           "No GPU to weigh on: the NVIDIA driver's {} is not on this machine. Install the driver, "
           "or weigh on the processor (--device cpu).",
           name);
  }

  template <typename Function, typename... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const DriverResult result = need<Function>(name)(arguments...);
    if (result != kSuccess)
      fail(Blame::kMachine,
           "The GPU cannot be used: the driver's {} failed with error {} ({}). Look at nvidia-smi.",
           name, result, error_text(result));
  }

  template <typename Function>
  Function* need(const char* name) const {
    auto* function = library_.function<Function>(name);
    if (function == nullptr)
      fail(Blame::kMachine, "{} has no {}: the NVIDIA driver is too old. CUDA 13 is needed.", name_,
           name);
    return function;
  }

  std::string error_text(DriverResult result) const {
    const char* text = nullptr;
    auto* ask = library_.function<DriverResult(DriverResult, const char**)>("cuGetErrorString");
    return ask != nullptr && ask(result, &text) == kSuccess && text != nullptr ? text : "unknown";
  }

 private:
  Library library_;
  std::string name_;
};

void require_version(const Driver& driver) {
  int version = 0;
  driver.call<DriverResult(int*)>("cuDriverGetVersion", &version);
  if (version < kNeededDriver)
    fail(
        Blame::kMachine,
        "The NVIDIA driver is too old: it serves CUDA {}.{}, and Tare's kernels are built for CUDA "
        "13. Update it to 580 or later.",
        version / 1000, version % 1000 / 10);
}

void start(const Driver& driver) {
  const DriverResult result = driver.need<DriverResult(unsigned)>("cuInit")(0U);
  if (result == kNoDevice)
    fail(Blame::kMachine,
         "No GPU to weigh on: the driver is there and sees no device. Look at nvidia-smi and "
         "CUDA_VISIBLE_DEVICES, or weigh on the processor (--device cpu).");
  if (result != kSuccess)
    fail(Blame::kMachine, "The GPU driver does not start: error {} ({}). Look at nvidia-smi.",
         result, driver.error_text(result));
}

std::uint32_t attribute(const Driver& driver, int which, DriverDevice device) {
  int value = 0;
  driver.call<DriverResult(int*, int, DriverDevice)>("cuDeviceGetAttribute", &value, which, device);
  return static_cast<std::uint32_t>(value);
}

std::string name_of(const Driver& driver, DriverDevice device) {
  std::array<char, 256> name{};
  driver.call<DriverResult(char*, int, DriverDevice)>("cuDeviceGetName", name.data(),
                                                      static_cast<int>(name.size() - 1), device);
  return name.data();
}

// The bits of nvmlClocksEventReasons that take speed away. Idle (1), settings of applications (2),
// sync boost (16) and display clocks (256) do not, while a kernel runs.
constexpr std::array<std::pair<std::uint64_t, const char*>, 5> kSlowdowns{{
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x20, "thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "power brake"},
}};

// The management library's functions that are used, and its handle of the device.
struct Management {
  using Result = int;
  using Device = void*;
  struct Memory {
    unsigned long long total, available, used;
  };

  explicit Management(const std::string& name) : library(name) {
    const auto start = library.function<Result()>("nvmlInit_v2");
    const auto handle =
        library.function<Result(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2");
    ready = start != nullptr && handle != nullptr && start() == kSuccess &&
            handle(0, &device) == kSuccess;
  }

  template <typename Value, typename... Arguments>
  std::optional<Value> ask(const char* name, Arguments... arguments) const {
    if (!ready) return std::nullopt;
    Value value{};
    auto* function = library.function<Result(Device, Arguments..., Value*)>(name);
    if (function == nullptr || function(device, arguments..., &value) != kSuccess)
      return std::nullopt;
    return value;
  }

  std::string driver_version() const {
    std::array<char, 96> text{};
    auto* ask_version = library.function<Result(char*, unsigned)>("nvmlSystemGetDriverVersion");
    const bool known = ready && ask_version != nullptr &&
                       ask_version(text.data(), static_cast<unsigned>(text.size())) == kSuccess;
    return known ? text.data() : "";
  }

  Library library;
  Device device = nullptr;
  bool ready = false;
};

}  // namespace

struct AcceleratorWatch::State {
  Management management;
};

AcceleratorWatch::AcceleratorWatch(const CudaLibraries& libraries)
    : state_(new State{Management(libraries.management)}) {}
AcceleratorWatch::~AcceleratorWatch() = default;

std::optional<AcceleratorState> AcceleratorWatch::look() const {
  const Management& management = state_->management;
  constexpr unsigned kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;
  const auto sm = management.ask<unsigned>("nvmlDeviceGetClockInfo", kSmClock);
  if (!sm) return std::nullopt;
  AcceleratorState state;
  state.sm_mhz = *sm;
  state.memory_mhz = management.ask<unsigned>("nvmlDeviceGetClockInfo", kMemoryClock).value_or(0);
  state.highest_sm_mhz =
      management.ask<unsigned>("nvmlDeviceGetMaxClockInfo", kSmClock).value_or(0);
  state.celsius = management.ask<unsigned>("nvmlDeviceGetTemperature", kGpuSensor).value_or(0);
  state.watts = 1e-3 * management.ask<unsigned>("nvmlDeviceGetPowerUsage").value_or(0);
  state.slowed_by =
      management.ask<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons").value_or(0);
  return state;
}

std::optional<std::uint32_t> AcceleratorWatch::processes() const {
  const Management& management = state_->management;
  if (!management.ready) return std::nullopt;
  auto* list = management.library.function<int(void*, unsigned*, void*)>(
      "nvmlDeviceGetComputeRunningProcesses_v3");
  unsigned count = 0;
  constexpr int kInsufficientSize = 7;  // how it answers when it is only asked how many
  if (list == nullptr) return std::nullopt;
  const int result = list(management.device, &count, nullptr);
  if (result != kSuccess && result != kInsufficientSize) return std::nullopt;
  return count;
}

Accelerator inspect_cuda(const CudaLibraries& libraries) {
  const Driver driver(libraries.driver);
  require_version(driver);
  start(driver);
  int count = 0;
  driver.call<DriverResult(int*)>("cuDeviceGetCount", &count);
  if (count == 0)
    fail(Blame::kMachine,
         "No GPU to weigh on: CUDA_VISIBLE_DEVICES hides every device, or there is none.");
  DriverDevice device = 0;
  driver.call<DriverResult(DriverDevice*, int)>("cuDeviceGet", &device, 0);
  Accelerator accelerator;
  accelerator.name = name_of(driver, device);
  const std::uint32_t major = attribute(driver, kMajor, device);
  accelerator.architecture = fmt::format("{}.{}", major, attribute(driver, kMinor, device));
  if (major < kLeastMajor)
    fail(Blame::kMachine, "{} has compute capability {}: Tare's kernels need 8.0 or later.",
         accelerator.name, accelerator.architecture);
  accelerator.multiprocessors = attribute(driver, kMultiprocessors, device);
  accelerator.l2_bytes = attribute(driver, kL2Bytes, device);
  std::size_t bytes = 0;
  driver.call<DriverResult(std::size_t*, DriverDevice)>("cuDeviceTotalMem_v2", &bytes, device);
  accelerator.memory_bytes = accelerator.available_bytes = bytes;
  const Management management(libraries.management);
  accelerator.driver = management.driver_version();
  if (const auto memory = management.ask<Management::Memory>("nvmlDeviceGetMemoryInfo"))
    accelerator.available_bytes = memory->available;
  return accelerator;
}

AcceleratorObservation observe_cuda(const CudaLibraries& libraries) {
  AcceleratorObservation seen;
  seen.driver = Library(libraries.driver).found();
  try {
    seen.found = inspect_cuda(libraries);
  } catch (const Error& error) {
    seen.refusal = error.what();
    return seen;
  }
  const AcceleratorWatch watch(libraries);
  seen.state = watch.look();
  seen.processes = watch.processes();
  return seen;
}

std::string summary(const Accelerator& accelerator) {
  return fmt::format(
      "{} ({}, {} SMs, L2 {}), driver {}, {}", accelerator.name, accelerator.architecture,
      accelerator.multiprocessors, readable_bytes(accelerator.l2_bytes),
      accelerator.driver.empty() ? "unknown" : accelerator.driver, accelerator.launching);
}

std::string slowdown_words(std::uint64_t slowed_by) {
  std::vector<std::string> words;
  for (const auto& [bit, word] : kSlowdowns)
    if ((slowed_by & bit) != 0) words.emplace_back(word);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::uint64_t cold_ring_bytes(const Accelerator& accelerator) {
  return std::max(kSmallestRing, kRingCaches * accelerator.l2_bytes);
}

ArmMemory arm_memory(const Machine& machine, const std::optional<Accelerator>& accelerator) {
  if (accelerator)
    return {accelerator->l2_bytes, cold_ring_bytes(*accelerator), accelerator->available_bytes};
  return {machine.last_level_cache_bytes, cold_ring_bytes(machine), machine.available_bytes};
}

}  // namespace tare::device
