#include "device/limits.h"

#include <algorithm>
#include <string>
#include <vector>

#include "device/text_file.h"

namespace tare::device {
namespace {

namespace fs = std::filesystem;

// One line of /proc/self/cgroup: "4:memory:/user.slice" or, version 2, "0::/user.slice".
struct Membership {
  std::string controllers, group;
};

std::vector<Membership> parse_memberships(std::string_view text) {
  std::vector<Membership> memberships;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    memberships.push_back({std::string(line.substr(first + 1, second - first - 1)),
                           std::string(trimmed(line.substr(second + 1)))});
  }
  return memberships;
}

bool controls(const Membership& membership, std::string_view controller) {
  std::string spaced = membership.controllers;  // "cpu,cpuacct"
  std::ranges::replace(spaced, ',', ' ');
  return std::ranges::count(words_of(spaced), controller) != 0;
}

// The folders from the group up to the mount, the mount included, that exist.
std::vector<fs::path> lineage(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path()) {
    if (fs::is_directory(mount / at, ignored)) folders.push_back(mount / at);
  }
  folders.push_back(mount);
  return folders;
}

void limit_processors(GroupLimits& limits, double quota, double period) {
  if (quota <= 0 || period <= 0) return;
  const double processors = quota / period;
  limits.processors = limits.processors == 0 ? processors : std::min(limits.processors, processors);
}

// Version 1 writes "no limit" as the largest page-aligned number.
bool is_memory_limit(std::uint64_t bytes) {
  return bytes != 0 && bytes < (std::uint64_t{1} << 60);
}

void limit_memory(GroupLimits& limits, std::uint64_t bytes, std::uint64_t used) {
  const auto left = [](std::uint64_t limit, std::uint64_t taken) {
    return limit - std::min(limit, taken);
  };
  const bool tighter = limits.memory_bytes == 0 ||
                       left(bytes, used) < left(limits.memory_bytes, limits.memory_used_bytes);
  if (!tighter) return;
  limits.memory_bytes = bytes;
  limits.memory_used_bytes = used;
}

std::uint64_t number_in(const fs::path& file) {
  return parse_number(read_word(file)).value_or(0);
}

// The page cache of a group is given up before anything is refused.
std::uint64_t page_cache(const fs::path& folder, std::string_view prefix) {
  const std::string stat = read_text(folder / "memory.stat").value_or("");
  std::uint64_t bytes = 0;
  for (const std::string_view line : lines_of(stat)) {
    const auto words = words_of(line);
    if (words.size() != 2 || !words[0].starts_with(prefix)) continue;
    const std::string_view name = words[0].substr(prefix.size());
    if (name == "inactive_file" || name == "active_file")
      bytes += parse_number(words[1]).value_or(0);
  }
  return bytes;
}

std::uint64_t used_in(const fs::path& folder, const char* usage, std::string_view prefix) {
  const std::uint64_t charged = number_in(folder / usage);
  return charged - std::min(charged, page_cache(folder, prefix));
}

void read_version_2(GroupLimits& limits, const fs::path& folder) {
  const std::string cpu = read_word(folder / "cpu.max");
  const auto words = words_of(cpu);
  if (words.size() == 2) {
    const auto quota = parse_number(words[0]), period = parse_number(words[1]);
    if (quota && period)
      limit_processors(limits, static_cast<double>(*quota), static_cast<double>(*period));
  }
  const std::uint64_t most = number_in(folder / "memory.max");
  if (is_memory_limit(most)) limit_memory(limits, most, used_in(folder, "memory.current", ""));
}

void read_version_1_cpu(GroupLimits& limits, const fs::path& folder) {
  // -1 means no quota, and is no number to parse_number.
  limit_processors(limits, static_cast<double>(number_in(folder / "cpu.cfs_quota_us")),
                   static_cast<double>(number_in(folder / "cpu.cfs_period_us")));
}

void read_version_1_memory(GroupLimits& limits, const fs::path& folder) {
  const std::uint64_t most = number_in(folder / "memory.limit_in_bytes");
  if (is_memory_limit(most)) {
    limit_memory(limits, most, used_in(folder, "memory.usage_in_bytes", "total_"));
  }
}

}  // namespace

GroupLimits group_limits(const fs::path& root) {
  GroupLimits limits;
  const fs::path mounts = root / "sys/fs/cgroup";
  const std::string text = read_text(root / "proc/self/cgroup").value_or("");
  for (const Membership& membership : parse_memberships(text)) {
    if (membership.controllers.empty()) {
      for (const fs::path& folder : lineage(mounts, membership.group))
        read_version_2(limits, folder);
    }
    if (controls(membership, "cpu")) {
      for (const fs::path& folder : lineage(mounts / "cpu", membership.group)) {
        read_version_1_cpu(limits, folder);
      }
    }
    if (controls(membership, "memory")) {
      for (const fs::path& folder : lineage(mounts / "memory", membership.group)) {
        read_version_1_memory(limits, folder);
      }
    }
  }
  return limits;
}

}  // namespace tare::device
