// The memory of this process as the kernel backs it, and what disturbed it so far. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tare::device {

// Share of [address, address + bytes) that lies on huge pages, 0..1, from /proc/self/smaps. The
// kernel tells it for whole mappings only: where a mapping reaches beyond the range, its share is
// taken for the range's. Memory not touched yet has no page, so counts as not huge. Costs
// milliseconds: never inside a region.
double huge_page_share(const void* address, std::size_t bytes);

// The same of the text of such a file.
double huge_page_share(std::string_view smaps, std::uint64_t begin, std::uint64_t end);

// Mappings of this process: lines of /proc/self/maps. Tens of microseconds; maps nothing itself. 0
// when /proc is not there.
std::uint64_t count_mappings();

// Of all private memory that this process has touched, the share on huge pages, 0..1
// (/proc/self/smaps_rollup); 0 where the kernel does not say. Costs a walk over all mappings: never
// inside a region.
double process_huge_page_share();
double process_huge_page_share(std::string_view smaps_rollup);

// Counters of this process since it began, over all threads (getrusage): page faults, minor and
// major, and how often a thread lost its processor to another before it gave it up.
std::uint64_t page_faults();
std::uint64_t involuntary_switches();

}  // namespace tare::device
