// Where it runs: the processor, its caches and instruction sets, its memory and pages, and how
// quiet it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::device {

// Instruction sets that matter to a matrix kernel; false where the processor or the operating
// system lacks them.
struct Isa {
  bool avx2 = false;    // with FMA and F16C
  bool avx512 = false;  // F, BW, DQ, VL
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_bf16 = false;  // tiles usable: arch_prctl granted
  bool amx_int8 = false;
};
std::string best_of(const Isa& isa);  // "AVX-512 BF16", "AVX2", "x86-64", ...

struct Machine {
  std::string
      processor;  // "AMD EPYC 9R14 (Zen 4)": trademarks left out, microarchitecture where known
  std::uint32_t threads = 0;  // processors in this process's affinity mask
  std::uint32_t cores = 0;    // distinct cores among them
  bool smt = false;           // these cores run several threads each, ours or another's
  Isa isa;
  std::uint64_t l1d_bytes = 0, l2_bytes = 0, last_level_cache_bytes = 0;  // of one instance
  std::uint32_t last_level_caches =
      1;  // instances that our processors use: cold weights must be past all of them
  std::uint64_t memory_bytes = 0;
  std::uint64_t available_bytes =
      0;                   // without swapping, and as far as a control group's limit allows
  std::string huge_pages;  // "always", "madvise", "never"
  std::string governor;    // "performance", ...; "" when not exposed
  std::string kernel;      // "6.1.0"
  bool virtual_machine = false;
};
// Asks the processor, hwloc, /proc and /sys; what they do not tell stays 0, false or "". Takes
// milliseconds. Asks Linux for leave to use AMX tiles where there are any: see isa.h.
Machine inspect();

// How quiet the machine is, watched over `seconds`: this process sleeps for one half of them, and
// spins on all of its processors for the other (only work that wants a processor can have it
// stolen). Throws tare::Error: kInput for a duration that is none, kMachine where /proc cannot be
// read.
struct Noise {
  double seconds = 0;
  double steal_share = 0;  // of processor time, taken by the hypervisor
  double busy_share = 0;   // of processor time, used by others
  double spin_p99_ratio =
      0;  // a fixed spin of some 30 us: 99th percentile over median, on the worst processor
  double spin_max_gap_us = 0;        // longest interruption seen
  std::vector<std::string> busiest;  // "cc1plus (pid 123) 98 %"
};
Noise watch(double seconds);

// Environment variables known to hobble a library (a build or an environment that slows the
// incumbent makes any candidate look good), that are set in this environment.
struct Hobble {
  std::string variable, value, effect, advice;
  bool harmful = false;  // false: set to something that is fine
  // Harmful, and nobody who measures can want it: it hides instructions from one library, changes
  // its arithmetic, or makes it talk inside regions. Arm hosts are started without it (TRAPS T37).
  bool withheld = false;
};
std::vector<Hobble> hobbling_variables();

// Processor time of everything on this machine since boot, in seconds: user+system+irq, and steal.
// Counted by the kernel in steps of 10 ms on each processor, so a difference over less than about a
// second is coarse. Throws tare::Error (kMachine) where /proc/stat cannot be read.
struct ProcessorTime {
  double busy = 0, steal = 0;
};
ProcessorTime processor_time();

// "AMD EPYC 9R14 (Zen 4), 2 threads, AVX-512 BF16": the first line of a table. Depends on its
// argument alone.
std::string summary(const Machine& machine);

}  // namespace tare::device
