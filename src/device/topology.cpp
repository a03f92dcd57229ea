#include "device/topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>

#include "device/text_file.h"

namespace tare::device {
namespace {

namespace fs = std::filesystem;

// ---- hwloc

using HwlocTopology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

HwlocTopology load_hwloc() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, &hwloc_topology_destroy};
  HwlocTopology topology(raw, &hwloc_topology_destroy);
  // Processors and caches are all we ask for: looking for GPUs through its plugins costs time.
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

// The cache of this processor at the given level that holds data, or null.
hwloc_obj_t data_cache(hwloc_obj_t processor, unsigned level) {
  for (hwloc_obj_t up = processor; up != nullptr; up = up->parent) {
    if (hwloc_obj_type_is_dcache(up->type) && up->attr->cache.depth == level) return up;
  }
  return nullptr;
}

hwloc_obj_t last_data_cache(hwloc_obj_t processor) {
  hwloc_obj_t last = nullptr;
  for (hwloc_obj_t up = processor; up != nullptr; up = up->parent) {
    if (hwloc_obj_type_is_dcache(up->type)) last = up;
  }
  return last;
}

std::uint64_t size_of(hwloc_obj_t cache) {
  return cache == nullptr ? 0 : cache->attr->cache.size;
}

// Counts siblings that this process may not use, too: another's work on them slows ours all the
// same.
bool has_siblings(hwloc_obj_t core) {
  return hwloc_bitmap_weight(core->complete_cpuset) > 1;
}

// ---- sysfs

struct SysfsCache {
  unsigned level = 0;
  std::string type, shared;
  std::uint64_t bytes = 0;
};

std::vector<SysfsCache> sysfs_data_caches(const fs::path& cpu) {
  std::vector<SysfsCache> caches;
  for (unsigned index = 0; index < 16; ++index) {
    const fs::path folder = cpu / "cache" / fmt::format("index{}", index);
    const auto level = parse_number(read_word(folder / "level"));
    const auto bytes = parse_size(read_word(folder / "size"));
    const std::string type = read_word(folder / "type");
    if (!level || !bytes || type == "Instruction") continue;
    caches.push_back(
        {static_cast<unsigned>(*level), type, read_word(folder / "shared_cpu_list"), *bytes});
  }
  std::ranges::sort(caches, {}, &SysfsCache::level);
  return caches;
}

std::uint64_t bytes_at(const std::vector<SysfsCache>& caches, unsigned level) {
  const auto found = std::ranges::find(caches, level, &SysfsCache::level);
  return found == caches.end() ? 0 : found->bytes;
}

fs::path cpu_folder(const fs::path& cpus, unsigned processor) {
  return cpus / fmt::format("cpu{}", processor);
}

// ---- the C library, which asks the processor itself where it can

std::uint64_t configured(int name) {
  const long value = sysconf(name);
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

void fill_unknown(Topology& known, const Topology& other) {
  if (known.cores == 0) {
    known.cores = other.cores;
    known.smt = other.smt;
  }
  if (known.l1d_bytes == 0) known.l1d_bytes = other.l1d_bytes;
  if (known.l2_bytes == 0) known.l2_bytes = other.l2_bytes;
  if (known.last_level_cache_bytes == 0) {
    known.last_level_cache_bytes = other.last_level_cache_bytes;
    known.last_level_caches = other.last_level_caches;
  }
}

Topology libc_topology(const std::vector<unsigned>& processors) {
  Topology topology;
  topology.cores = static_cast<std::uint32_t>(processors.size());
#ifdef _SC_LEVEL1_DCACHE_SIZE
  topology.l1d_bytes = configured(_SC_LEVEL1_DCACHE_SIZE);
  topology.l2_bytes = configured(_SC_LEVEL2_CACHE_SIZE);
  const std::uint64_t l3 = configured(_SC_LEVEL3_CACHE_SIZE);
  topology.last_level_cache_bytes = l3 != 0 ? l3 : topology.l2_bytes;
  topology.last_level_caches = topology.last_level_cache_bytes != 0 ? 1 : 0;
#endif
  return topology;
}

}  // namespace

std::vector<unsigned> allowed_processors() {
  // The kernel refuses a set smaller than its own: grow until it is satisfied.
  for (std::size_t most = 1024; most <= (1u << 20); most *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (set == nullptr || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<unsigned> processors;
    for (unsigned p = 0; p < most; ++p) {
      if (CPU_ISSET_S(p, bytes, set.get())) processors.push_back(p);
    }
    return processors;
  }
  return {0};
}

Topology hwloc_topology_of(hwloc_topology* topology, const std::vector<unsigned>& processors) {
  Topology seen;
  std::set<hwloc_obj_t> cores, last_caches;
  for (const unsigned processor : processors) {
    const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, processor);
    if (pu == nullptr) continue;
    if (const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu)) {
      cores.insert(core);
      seen.smt = seen.smt || has_siblings(core);
    }
    if (const hwloc_obj_t last = last_data_cache(pu)) last_caches.insert(last);
    seen.l1d_bytes = std::max(seen.l1d_bytes, size_of(data_cache(pu, 1)));
    seen.l2_bytes = std::max(seen.l2_bytes, size_of(data_cache(pu, 2)));
  }
  for (const hwloc_obj_t last : last_caches) {
    seen.last_level_cache_bytes = std::max(seen.last_level_cache_bytes, size_of(last));
  }
  seen.cores = static_cast<std::uint32_t>(cores.size());
  seen.last_level_caches = static_cast<std::uint32_t>(last_caches.size());
  return seen;
}

Topology sysfs_topology_of(const fs::path& cpus, const std::vector<unsigned>& processors) {
  Topology seen;
  std::set<std::string> cores, last_caches;
  for (const unsigned processor : processors) {
    const fs::path cpu = cpu_folder(cpus, processor);
    const std::string siblings = read_word(cpu / "topology" / "thread_siblings_list");
    if (!siblings.empty()) cores.insert(siblings);
    seen.smt = seen.smt || parse_processor_list(siblings).size() > 1;
    const std::vector<SysfsCache> caches = sysfs_data_caches(cpu);
    if (caches.empty()) continue;
    last_caches.insert(caches.back().shared);
    seen.l1d_bytes = std::max(seen.l1d_bytes, bytes_at(caches, 1));
    seen.l2_bytes = std::max(seen.l2_bytes, bytes_at(caches, 2));
    seen.last_level_cache_bytes = std::max(seen.last_level_cache_bytes, caches.back().bytes);
  }
  seen.cores = static_cast<std::uint32_t>(cores.size());
  seen.last_level_caches = static_cast<std::uint32_t>(last_caches.size());
  return seen;
}

Topology inspect_topology(const std::vector<unsigned>& processors) {
  Topology topology;
  if (const HwlocTopology hwloc = load_hwloc())
    topology = hwloc_topology_of(hwloc.get(), processors);
  fill_unknown(topology, sysfs_topology_of("/sys/devices/system/cpu", processors));
  fill_unknown(topology, libc_topology(processors));
  return topology;
}

std::string clock_governor(const fs::path& cpus, const std::vector<unsigned>& processors) {
  std::set<std::string> governors;
  for (const unsigned processor : processors) {
    governors.insert(read_word(cpu_folder(cpus, processor) / "cpufreq" / "scaling_governor"));
  }
  if (governors.empty()) return "";
  return governors.size() == 1 ? *governors.begin() : "mixed";
}

}  // namespace tare::device
