#include "arms/host_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tare::arms {
namespace {

Settings settings(std::uint32_t threads) {
  const std::string count = std::to_string(threads);
  return {
      // malloc asks for huge pages, so that every library's own allocations get the pages the ring
      // has (TRAPS T14). Only its heap can: blocks below 2 MiB that it maps one by one never do
      // (seen: MLX's weights of 0.8 MB, 20 % on huge pages), so it maps only blocks of 32 MiB,
      // glibc's highest threshold, and keeps what is freed. Without fast bins: in them glibc 2.36
      // collects what posix_memalign cuts off, so that a block got and freed in every dispatch, as
      // ggml does for each graph, makes the heap grow (a page in 28 dispatches, 0.5 to 1.2 % of the
      // time of a small product).
      {"GLIBC_TUNABLES",
       "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:"
       "glibc.malloc.trim_threshold=17179869184:glibc.malloc.mxfast=0"},
      {"OMP_NUM_THREADS", count},
      {"OPENBLAS_NUM_THREADS", count},
      {"MKL_NUM_THREADS", count},
      {"OMP_DYNAMIC", "false"},
      // Each thread on a processor of its own. Free threads were seen to share one of two
      // processors for whole regions (kernels/thread_pool.h).
      {"OMP_PROC_BIND", "true"},
      // libgomp's idle workers spin for 300,000 rounds by default, 40 ms where `pause` is slow (Zen
      // 5: 0.13 us), into the regions of the next arm (TRAPS T35). So many still bridge the
      // microseconds between two dispatches, which is what spinning is for.
      {"GOMP_SPINCOUNT", "2000"},
  };
}

}  // namespace

std::vector<device::Hobble> withheld_variables() {
  // Who caps Tare's own kernels, too, plays a smaller machine: then the caps are meant for all.
  if (std::getenv("TARE_CPU_ISA") != nullptr) return {};
  std::vector<device::Hobble> hobbles = device::hobbling_variables();
  std::erase_if(hobbles, [](const device::Hobble& hobble) { return !hobble.withheld; });
  return hobbles;
}

std::vector<std::string> host_environment(std::uint32_t threads, const Settings& more) {
  Settings merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      merged[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  for (const device::Hobble& hobble : withheld_variables()) merged.erase(hobble.variable);
  for (auto& [name, value] : settings(threads)) merged[name] = value;
  for (const auto& [name, value] : more) merged[name] = value;
  std::vector<std::string> environment;
  environment.reserve(merged.size());
  for (const auto& [name, value] : merged) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

}  // namespace tare::arms
