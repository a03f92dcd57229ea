// A GPU as a place to weigh on: what it is, what it has left, how its clocks stand. Asked of the
// driver's own libraries, which are looked for at run time: the program starts where there are
// none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/machine.h"

namespace tare::device {

// What a results file says of the GPU that arms ran on.
struct Accelerator {
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // compute capability, "9.0"
  std::string driver;        // "580.159.04"
  std::uint32_t multiprocessors = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0, available_bytes = 0;
  std::string launching;  // "graph, programmatic": how dispatches of a region are launched
};

// Of one moment.
struct AcceleratorState {
  std::uint32_t sm_mhz = 0, memory_mhz = 0, celsius = 0;
  std::uint32_t highest_sm_mhz = 0;  // what the clock could be; 0: not told
  double watts = 0;
  std::uint64_t slowed_by = 0;  // nvmlClocksEventReasons
  double others_busy = 0;       // share of its time that AcceleratorWatch::others() used lately
};

// Where the driver's libraries are. Tests put others in their place.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string management = "libnvidia-ml.so.1";
};

// The first GPU that this process may use (CUDA_VISIBLE_DEVICES is heeded by the driver). Throws
// tare::Error (kMachine): no driver, a driver older than CUDA 13's, no device, a device that the
// driver cannot start, a device older than compute capability 8.0. Creates no context.
Accelerator inspect_cuda(const CudaLibraries& libraries = {});

struct AcceleratorProcess {
  std::uint32_t pid = 0;
  std::string name;  // "" where the management library does not tell
};

// Reads clocks, temperature, throttle reasons and who else is at work; never sets anything. Not
// thread-safe.
class AcceleratorWatch {
 public:
  explicit AcceleratorWatch(const CudaLibraries& libraries = {});
  ~AcceleratorWatch();
  AcceleratorWatch(const AcceleratorWatch&) = delete;
  AcceleratorWatch& operator=(const AcceleratorWatch&) = delete;

  // Nothing where the management library is not there or does not answer. Some 0.1 ms.
  std::optional<AcceleratorState> look() const;
  // Other processes with a context on the device, this one's arm hosts among them; nothing as
  // above.
  std::optional<std::uint32_t> processes() const;
  // Those that had one when the watch began: other people's, where none of ours was there yet.
  const std::vector<AcceleratorProcess>& others() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What `tare doctor` looks at.
struct AcceleratorObservation {
  bool driver = false;               // its library is on this machine
  std::optional<Accelerator> found;  // nothing: `refusal` says why
  std::string refusal;
  std::optional<AcceleratorState> state;   // nothing: the management library does not tell
  std::optional<std::uint32_t> processes;  // with a context on the device
};
// Never throws: that there is no GPU is an observation, too.
AcceleratorObservation observe_cuda(const CudaLibraries& libraries = {});

// "NVIDIA H200 (9.0, 132 SMs, L2 60 MiB), driver 580.159.04, graph, programmatic": the first line
// of a table. Depends on its argument alone.
std::string summary(const Accelerator& accelerator);

// Why clocks are below the highest, in words: "power cap, thermal slowdown"; "" when nothing
// harmful. Idle and application settings are no reasons.
std::string slowdown_words(std::uint64_t slowed_by);

// Bytes of distinct weights that a cold ring of one arm holds: past the L2 several times over.
std::uint64_t cold_ring_bytes(const Accelerator& accelerator);

// The memory that arms read from: the accelerator's where they run on one, else the machine's.
struct ArmMemory {
  std::uint64_t cache_bytes = 0;  // the last cache in front of it: what cold weights must be past
  std::uint64_t cold_ring_bytes = 0;  // of one arm
  std::uint64_t available_bytes = 0;
};
ArmMemory arm_memory(const Machine& machine, const std::optional<Accelerator>& accelerator);

}  // namespace tare::device
