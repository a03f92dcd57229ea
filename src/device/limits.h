// What the control groups of this process allow it, which /proc/meminfo and the affinity mask do
// not show.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tare::device {

// The tightest limits on the way from the process's own group to the root. Zero: no limit.
struct GroupLimits {
  double processors = 0;  // processor time a second, in processors: "cpu.max 150000 100000" is 1.5
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_used_bytes =
      0;  // charged to the group with that limit, page cache left out; 0 without a limit
};

// Reads both hierarchies, version 1 and 2, below `root` (for tests; "/" is this machine). Groups
// that cannot be read limit nothing: in a container the path in /proc/self/cgroup may be one that
// only its host can see; its mounted top is read then.
GroupLimits group_limits(const std::filesystem::path& root = "/");

}  // namespace tare::device
