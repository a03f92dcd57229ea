#include "device/pages.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "device/text_file.h"

namespace tare::device {
namespace {

// "7f0c8a400000-7f0c8a600000 rw-p 00000000 00:00 0 [heap]": the head of a mapping; the lines after
// it are "Name: value kB".
struct Mapping {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t huge_bytes = 0;
};

bool parse_hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_head(std::string_view line, Mapping& mapping) {
  const std::string_view range = line.substr(0, line.find(' '));
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return false;
  return parse_hex(range.substr(0, dash), mapping.begin) &&
         parse_hex(range.substr(dash + 1), mapping.end);
}

// Transparent ones of private and of shared memory, and those of hugetlbfs.
bool counts_huge_bytes(std::string_view name) {
  return name == "AnonHugePages:" || name == "ShmemPmdMapped:" || name == "FilePmdMapped:" ||
         name == "Shared_Hugetlb:" || name == "Private_Hugetlb:";
}

double huge_share_of(const Mapping& mapping) {
  if (mapping.end <= mapping.begin) return 0;
  return static_cast<double>(mapping.huge_bytes) / static_cast<double>(mapping.end - mapping.begin);
}

double overlap(const Mapping& mapping, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t from = std::max(mapping.begin, begin), to = std::min(mapping.end, end);
  return to > from ? static_cast<double>(to - from) : 0;
}

}  // namespace

double huge_page_share(const void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return huge_page_share(read_text("/proc/self/smaps").value_or(""), begin, begin + bytes);
}

double huge_page_share(std::string_view smaps, std::uint64_t begin, std::uint64_t end) {
  if (end <= begin) return 0;
  double huge = 0;
  Mapping mapping;
  for (const std::string_view line : lines_of(smaps)) {
    Mapping next;
    if (parse_head(line, next)) {
      huge += overlap(mapping, begin, end) * huge_share_of(mapping);
      mapping = next;
      continue;
    }
    const auto words = words_of(line);
    if (words.size() == 3 && counts_huge_bytes(words[0])) {
      mapping.huge_bytes += parse_number(words[1]).value_or(0) << 10;
    }
  }
  huge += overlap(mapping, begin, end) * huge_share_of(mapping);
  return std::min(1.0, huge / static_cast<double>(end - begin));
}

std::uint64_t count_mappings() {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::uint64_t lines = 0;
  char buffer[16384];  // on the stack: asking must not make a mapping
  for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;) {
    lines += static_cast<std::uint64_t>(std::count(buffer, buffer + got, '\n'));
  }
  close(file);
  return lines;
}

double process_huge_page_share() {
  return process_huge_page_share(read_text("/proc/self/smaps_rollup").value_or(""));
}

double process_huge_page_share(std::string_view smaps_rollup) {
  double touched = 0, huge = 0;
  for (const std::string_view line : lines_of(smaps_rollup)) {
    const auto words = words_of(line);
    if (words.size() != 3) continue;
    const double kilobytes = static_cast<double>(parse_number(words[1]).value_or(0));
    // "Anonymous" counts transparent huge pages, but not those of hugetlbfs.
    if (words[0] == "Anonymous:" || words[0] == "Private_Hugetlb:") touched += kilobytes;
    if (words[0] == "AnonHugePages:" || words[0] == "Private_Hugetlb:") huge += kilobytes;
  }
  return touched > 0 ? std::min(1.0, huge / touched) : 0;
}

std::uint64_t page_faults() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

std::uint64_t involuntary_switches() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}

}  // namespace tare::device
