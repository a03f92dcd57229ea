// What benchmarks of cold weights share: memory on huge pages, and the middle of a series.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace tare::bench {

// Touched, zeroed memory on huge pages.
inline std::shared_ptr<std::byte> on_huge_pages(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  const std::size_t all = (bytes + kHuge - 1) / kHuge * kHuge;
  void* memory = std::aligned_alloc(kHuge, all);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, all, MADV_HUGEPAGE);
  std::memset(memory, 0, all);
  return {static_cast<std::byte*>(memory), std::free};
}

inline double quantile(std::vector<double> values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
inline double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
}

}  // namespace tare::bench
