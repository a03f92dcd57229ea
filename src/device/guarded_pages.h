// Memory with a page on either side that nobody may touch: an access past the end is a crash there
// and then, and not a neighbour's wrong number (TRAPS C4).
#pragma once

#include <cstddef>
#include <span>

namespace tare::device {

// Starts 64-byte aligned and ends within 64 bytes of the page behind; the bytes left over on either
// side are all ones, NaN in every float format, so that what reads them shows in its result.
// Zeroed. Not thread-safe; different objects are independent.
class GuardedPages {
 public:
  // Throws tare::Error (kMachine) when there is not enough memory.
  explicit GuardedPages(std::size_t bytes);
  ~GuardedPages();
  GuardedPages(GuardedPages&& other) noexcept;
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  GuardedPages& operator=(GuardedPages&&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  void forbid_writes();  // from now on they crash, too

  // Whether the bytes left over are as they were.
  bool margins_intact() const;

 private:
  std::span<std::byte> mapping_;  // both forbidden pages included
  std::span<std::byte> usable_;
  std::span<std::byte> bytes_;
};

}  // namespace tare::device
