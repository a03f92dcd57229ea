// Memory and its pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare::device {

struct MemoryInfo {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  // what can be had without swapping
};
// From /proc/meminfo; kernels before 3.14 do not say what is available, then free and page cache
// stand for it.
MemoryInfo parse_meminfo(std::string_view text);

// The word in brackets of "always [madvise] never"; "" when there is none.
std::string chosen_word(std::string_view text);

// Of the machine, and no more than the memory that a control group still leaves to this process.
// One read of a few small files: cheap enough before every large allocation, not inside a region.
MemoryInfo memory_info();

// How transparent huge pages are given to private memory: "always", "madvise", "never"; "" without
// them.
std::string huge_page_setting();

}  // namespace tare::device
