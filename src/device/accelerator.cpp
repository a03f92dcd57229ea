#include "device/accelerator.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
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

  // Processes with a context on the device; nothing where the library does not tell.
  std::optional<std::vector<unsigned>> processes() const {
    struct Process {
      unsigned pid;
      unsigned long long memory;
      unsigned gpu_instance, compute_instance;
    };
    constexpr int kInsufficientSize = 7;  // how it answers when it is only asked how many
    auto* list = library.function<Result(Device, unsigned*, Process*)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!ready || list == nullptr) return std::nullopt;
    unsigned count = 0;
    std::vector<Process> found;
    Result result = list(device, &count, nullptr);
    while (result == kInsufficientSize && count > found.size()) {
      found.resize(count);
      result = list(device, &count, found.data());
    }
    if (result != kSuccess) return std::nullopt;
    std::vector<unsigned> pids;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, found.size()); ++i)
      pids.push_back(found[i].pid);
    return pids;
  }

  std::string name_of(unsigned pid) const {
    std::array<char, 256> name{};
    auto* ask_name =
        library.function<Result(unsigned, char*, unsigned)>("nvmlSystemGetProcessName");
    const bool known = ready && ask_name != nullptr &&
                       ask_name(pid, name.data(), static_cast<unsigned>(name.size())) == kSuccess;
    return known ? name.data() : "";
  }

  // Of the multiprocessors' time, by process, in the library's newest samples after `since`.
  struct Use {
    unsigned pid;
    unsigned long long microseconds;  // of the sample
    unsigned percent, memory, encoder, decoder;
  };
  std::vector<Use> uses(unsigned long long since) const {
    constexpr unsigned kMost = 64;
    auto* ask_uses = library.function<Result(Device, Use*, unsigned*, unsigned long long)>(
        "nvmlDeviceGetProcessUtilization");
    std::vector<Use> found(kMost);
    unsigned count = kMost;
    const bool known =
        ready && ask_uses != nullptr && ask_uses(device, found.data(), &count, since) == kSuccess;
    found.resize(known ? std::min(count, kMost) : 0);
    return found;
  }

  Library library;
  Device device = nullptr;
  bool ready = false;
};

// How busy others keep the device. The library has a sample every 0.2 to 0.4 s (seen on an H200),
// and looks are more often: the last one holds until it is old.
class OthersUse {
 public:
  double look(const Management& management, const std::vector<AcceleratorProcess>& others) {
    if (others.empty()) return 0;
    constexpr std::chrono::seconds kOld(1);
    unsigned most = 0;
    bool sampled = false;
    for (const Management::Use& use : management.uses(newest_)) {
      newest_ = std::max(newest_, use.microseconds);
      if (std::ranges::find(others, use.pid, &AcceleratorProcess::pid) == others.end()) continue;
      most = std::max(most, use.percent);
      sampled = true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (sampled) {
      busy_ = 1e-2 * std::min(100U, most);
      when_ = now;
    }
    return now - when_ > kOld ? 0 : busy_;
  }

 private:
  unsigned long long newest_ = 0;
  double busy_ = 0;
  std::chrono::steady_clock::time_point when_;
};

}  // namespace

struct AcceleratorWatch::State {
  Management management;
  std::vector<AcceleratorProcess> others{};
  OthersUse use{};
};

AcceleratorWatch::AcceleratorWatch(const CudaLibraries& libraries)
    : state_(new State{Management(libraries.management)}) {
  const Management& management = state_->management;
  for (const unsigned pid : management.processes().value_or(std::vector<unsigned>()))
    state_->others.push_back({pid, management.name_of(pid)});
}
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
  state.others_busy = state_->use.look(management, state_->others);
  return state;
}

std::optional<std::uint32_t> AcceleratorWatch::processes() const {
  const auto pids = state_->management.processes();
  if (!pids) return std::nullopt;
  return static_cast<std::uint32_t>(pids->size());
}

const std::vector<AcceleratorProcess>& AcceleratorWatch::others() const {
  return state_->others;
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
