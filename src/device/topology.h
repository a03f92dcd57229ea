// Processors, cores and caches that this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

struct hwloc_topology;

namespace tare::device {

// What a set of processors looks like. Zero: not known.
struct Topology {
  std::uint32_t cores = 0;  // distinct cores among the processors
  bool smt = false;         // some of these cores run more than one thread
  std::uint64_t l1d_bytes = 0, l2_bytes = 0;
  std::uint64_t last_level_cache_bytes = 0;  // of one instance, past L2 where there is one
  std::uint32_t last_level_caches = 0;       // distinct instances among the processors
};

// The processors in the affinity mask of the calling thread, ascending.
std::vector<unsigned> allowed_processors();

// hwloc's view, and where it knows no cache, that of sysfs, then that of the C library.
Topology inspect_topology(const std::vector<unsigned>& processors);

// From a loaded hwloc topology, which stays the caller's.
Topology hwloc_topology_of(hwloc_topology* topology, const std::vector<unsigned>& processors);

// From a tree like /sys/devices/system/cpu.
Topology sysfs_topology_of(const std::filesystem::path& cpus,
                           const std::vector<unsigned>& processors);

// The governor of the processors' clock in such a tree: "performance", "mixed" when they differ, ""
// when not exposed.
std::string clock_governor(const std::filesystem::path& cpus,
                           const std::vector<unsigned>& processors);

}  // namespace tare::device
