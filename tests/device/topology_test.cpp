#include "device/topology.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwloc.h>

#include <memory>
#include <numeric>

#include "scratch_folder.h"

namespace tare::device {
namespace {

using HwlocTopology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

HwlocTopology synthetic(const char* description) {
  hwloc_topology_t raw = nullptr;
  EXPECT_EQ(hwloc_topology_init(&raw), 0);
  HwlocTopology topology(raw, &hwloc_topology_destroy);
  EXPECT_EQ(hwloc_topology_set_synthetic(raw, description), 0);
  EXPECT_EQ(hwloc_topology_load(raw), 0);
  return topology;
}

// One Zen 4 package of three complexes: 8 cores of two threads around 32 MiB.
constexpr const char* kComplexes =
    "pack:1 l3:3(size=33554432) l2:8(size=1048576) l1d:1(size=32768) core:1 pu:2";

TEST(Topology, OneComplexOfThree) {
  const HwlocTopology hwloc = synthetic(kComplexes);
  std::vector<unsigned> first(16);
  std::iota(first.begin(), first.end(), 0);
  const Topology seen = hwloc_topology_of(hwloc.get(), first);
  EXPECT_EQ(seen.cores, 8u);
  EXPECT_TRUE(seen.smt);
  EXPECT_EQ(seen.last_level_caches, 1u);
  EXPECT_EQ(seen.last_level_cache_bytes, 32u << 20);
  EXPECT_EQ(seen.l2_bytes, 1u << 20);
  EXPECT_EQ(seen.l1d_bytes, 32u << 10);
}

TEST(Topology, ProcessorsInTwoComplexesUseTwoCaches) {
  const HwlocTopology hwloc = synthetic(kComplexes);
  const Topology seen = hwloc_topology_of(hwloc.get(), {0, 1, 16});
  EXPECT_EQ(seen.cores, 2u);
  EXPECT_EQ(seen.last_level_caches, 2u);
}

TEST(Topology, OneThreadOfACoreStillHasASibling) {
  const HwlocTopology hwloc = synthetic(kComplexes);
  EXPECT_TRUE(hwloc_topology_of(hwloc.get(), {0}).smt);
}

TEST(Topology, WithoutSmtAndWithoutL3TheLastLevelIsL2) {
  const HwlocTopology hwloc = synthetic("pack:1 l2:2(size=1048576) l1d:1(size=65536) core:1 pu:1");
  const Topology seen = hwloc_topology_of(hwloc.get(), {0, 1});
  EXPECT_FALSE(seen.smt);
  EXPECT_EQ(seen.cores, 2u);
  EXPECT_EQ(seen.last_level_cache_bytes, 1u << 20);
  EXPECT_EQ(seen.last_level_caches, 2u);
}

TEST(Topology, ProcessorsThatHwlocDoesNotKnowAreLeftOut) {
  const HwlocTopology hwloc = synthetic(kComplexes);
  EXPECT_EQ(hwloc_topology_of(hwloc.get(), {4096}).cores, 0u);
}

// /sys/devices/system/cpu of a two-processor Emerald Rapids guest.
void write_guest(const ScratchFolder& folder) {
  for (int cpu = 0; cpu < 2; ++cpu) {
    const std::string base = fmt::format("cpu{}/", cpu), own = fmt::format("{}\n", cpu);
    folder.write(base + "topology/thread_siblings_list", own);
    const char* kind[] = {"Data", "Instruction", "Unified", "Unified"};
    const char* size[] = {"48K\n", "32K\n", "2048K\n", "266240K\n"};
    const char* level[] = {"1\n", "1\n", "2\n", "3\n"};
    for (int index = 0; index < 4; ++index) {
      const std::string cache = fmt::format("{}cache/index{}/", base, index);
      folder.write(cache + "type", fmt::format("{}\n", kind[index]));
      folder.write(cache + "size", size[index]);
      folder.write(cache + "level", level[index]);
      folder.write(cache + "shared_cpu_list", index == 3 ? "0-1\n" : own);
    }
  }
}

TEST(Topology, SysfsOfAGuest) {
  ScratchFolder folder;
  write_guest(folder);
  const Topology seen = sysfs_topology_of(folder.path(), {0, 1});
  EXPECT_EQ(seen.cores, 2u);
  EXPECT_FALSE(seen.smt);
  EXPECT_EQ(seen.l1d_bytes, 48u << 10);
  EXPECT_EQ(seen.l2_bytes, 2u << 20);
  EXPECT_EQ(seen.last_level_cache_bytes, 260ull << 20);
  EXPECT_EQ(seen.last_level_caches, 1u);
}

TEST(Topology, AContainerWithoutSysfsKnowsNothing) {
  const Topology seen = sysfs_topology_of("/nowhere", {0, 1});
  EXPECT_EQ(seen.cores, 0u);
  EXPECT_EQ(seen.last_level_cache_bytes, 0u);
}

TEST(Topology, Governors) {
  ScratchFolder folder;
  EXPECT_EQ(clock_governor(folder.path(), {0, 1}), "");
  folder.write("cpu0/cpufreq/scaling_governor", "performance\n");
  folder.write("cpu1/cpufreq/scaling_governor", "performance\n");
  EXPECT_EQ(clock_governor(folder.path(), {0, 1}), "performance");
  folder.write("cpu1/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(clock_governor(folder.path(), {0, 1}), "mixed");
  EXPECT_EQ(clock_governor(folder.path(), {1}), "powersave");
}

TEST(Topology, ThisMachineHasAtLeastOneProcessorAndCore) {
  const std::vector<unsigned> processors = allowed_processors();
  ASSERT_FALSE(processors.empty());
  const Topology seen = inspect_topology(processors);
  EXPECT_GE(seen.cores, 1u);
  EXPECT_LE(seen.cores, processors.size());
}

}  // namespace
}  // namespace tare::device
