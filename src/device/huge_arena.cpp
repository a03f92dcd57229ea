#include "device/huge_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "device/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1
#endif

namespace tare::device {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargestRequest = std::size_t{1} << 46;  // half of what a process can address

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Addresses are kept as numbers, for their arithmetic; here they become pointers again.
void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Leaves the machine a twentieth of its memory, for everybody else and for what libraries allocate
// themselves.
bool machine_has(std::size_t bytes) {
  const MemoryInfo memory = memory_info();
  const std::uint64_t spare = memory.total_bytes / 20;
  return memory.available_bytes > spare && bytes <= memory.available_bytes - spare;
}

// `bytes` at a multiple of 2 MiB: maps one huge page more, and gives back what is too much at both
// ends.
char* map_aligned(std::size_t bytes) {
  const std::size_t mapped = bytes + kHugePage;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(memory);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t before = rounded_up(address, kHugePage) - address;
  if (before != 0) munmap(start, before);
  munmap(start + before + bytes, kHugePage - before);
  return start + before;
}

// Touches every page. Only a kernel that does not know the advice may leave that to the first
// write.
bool populate(char* memory, std::size_t bytes) {
  while (madvise(memory, bytes, MADV_POPULATE_WRITE) != 0) {
    if (errno == EINVAL) return true;
    if (errno != EINTR && errno != EAGAIN) return false;
  }
  return true;
}

// Puts whole huge pages behind addresses that have none yet.
bool touch(char* memory, std::size_t bytes) {
  if (!machine_has(bytes) || !populate(memory, bytes)) return false;
  // Where memory was fragmented the kernel gave small pages (seen: 45 % of a ring beside a
  // compiler); this moves them together, and costs nothing where they are huge already.
  madvise(memory, bytes, MADV_COLLAPSE);
  return true;
}

}  // namespace

HugeArena::~HugeArena() {
  for (const auto& [start, chunk] : chunks_) munmap(at(start), chunk.bytes);
}

void* HugeArena::allocate(std::size_t bytes) noexcept try {
  if (bytes > kLargestRequest) return nullptr;
  const std::size_t whole = rounded_up(std::max<std::size_t>(bytes, 1), kAlignment);
  std::size_t dirty_bytes = 0;
  void* piece = nullptr;
  {
    const std::lock_guard lock(mutex_);
    piece = take(whole, dirty_bytes);
    if (piece == nullptr && drop_empty_chunks()) piece = take(whole, dirty_bytes);
    if (piece == nullptr) return nullptr;
  }
  std::memset(piece, 0, dirty_bytes);
  return piece;
} catch (...) {  // out of memory for our own books
  return nullptr;
}

bool HugeArena::release(void* piece) noexcept {
  if (piece == nullptr) return true;
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<Address>(piece));
  if (found == pieces_.end()) return false;
  in_use_ -= found->second;
  --chunk_of(found->first)->second.pieces;
  give_back(pieces_.extract(found));
  return true;
}

void HugeArena::trim() noexcept {
  const std::lock_guard lock(mutex_);
  drop_empty_chunks();
}

std::uint64_t HugeArena::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

std::uint64_t HugeArena::bytes_reserved() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

void* HugeArena::take(std::size_t bytes, std::size_t& dirty_bytes) {
  auto range = tightest_fit(bytes);
  if (range == free_.end() && grow(bytes)) range = tightest_fit(bytes);
  if (range == free_.end() || !touch_until(range->first + bytes)) return nullptr;
  return cut(range, bytes, dirty_bytes);
}

// The smallest free range that holds `bytes`, so that large ones last. Ranges are few: pieces are
// rings and packed weights.
HugeArena::Ranges::iterator HugeArena::tightest_fit(std::size_t bytes) {
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second >= bytes && (best == free_.end() || range->second < best->second))
      best = range;
  }
  return best;
}

bool HugeArena::grow(std::size_t bytes) {
  // Whole units, so that the ring of the next shape, a little larger or smaller, finds the memory
  // of the last.
  const std::size_t whole = rounded_up(bytes, kChunkBytes);
  if (!machine_has(bytes)) return false;
  char* const memory = map_aligned(whole);
  if (memory == nullptr) return false;
  madvise(memory, whole,
          MADV_HUGEPAGE);  // refused where there are none: then all arms are on small pages alike
  const auto start = reinterpret_cast<Address>(memory);
  chunks_[start] = {.bytes = whole};
  free_[start] = whole;
  reserved_ += whole;
  return true;
}

// Only as far as pieces reach: all of a chunk took seconds beside a compiler, for a piece of 50 KB.
bool HugeArena::touch_until(Address end) {
  auto& [start, chunk] = *chunk_of(end - 1);
  const std::size_t needed = rounded_up(end - start, kHugePage);
  if (needed <= chunk.touched) return true;
  char* const untouched = static_cast<char*>(at(start)) + chunk.touched;
  if (!touch(untouched, needed - chunk.touched)) return false;
  chunk.touched = needed;
  return true;
}

void* HugeArena::cut(Ranges::iterator range, std::size_t bytes, std::size_t& dirty_bytes) {
  const auto [start, available] = *range;
  if (available > bytes) free_.emplace_hint(std::next(range), start + bytes, available - bytes);
  range->second = bytes;
  pieces_.insert(free_.extract(range));
  in_use_ += bytes;

  auto& [chunk_start, chunk] = *chunk_of(start);
  const std::size_t offset = start - chunk_start;
  dirty_bytes = chunk.used_before > offset ? std::min(bytes, chunk.used_before - offset) : 0;
  chunk.used_before = std::max(chunk.used_before, offset + bytes);
  ++chunk.pieces;
  return at(start);
}

// Joins the range with free neighbours of the same chunk: chunks are unmapped one by one. Moves the
// node, so that giving back needs no memory.
void HugeArena::give_back(Ranges::node_type piece) {
  const auto chunk = chunk_of(piece.key());
  auto range = free_.insert(std::move(piece)).position;
  const auto joins = [&](Ranges::iterator low, Ranges::iterator high) {
    return low->first + low->second == high->first && chunk_of(high->first) == chunk;
  };
  if (const auto next = std::next(range); next != free_.end() && joins(range, next)) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  if (const auto before = std::prev(range); joins(before, range)) {
    before->second += range->second;
    free_.erase(range);
  }
}

bool HugeArena::drop_empty_chunks() {
  bool dropped = false;
  for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
    if (chunk->second.pieces != 0) {
      ++chunk;
      continue;
    }
    free_.erase(chunk->first);  // one range: its pieces were joined as they came back
    munmap(at(chunk->first), chunk->second.bytes);
    reserved_ -= chunk->second.bytes;
    chunk = chunks_.erase(chunk);
    dropped = true;
  }
  return dropped;
}

std::map<HugeArena::Address, HugeArena::Chunk>::iterator HugeArena::chunk_of(Address address) {
  return std::prev(chunks_.upper_bound(address));
}

HugeArena& huge_arena() {
  // Never destroyed: a library's own destructors and threads may still use their pieces while the
  // process ends.
  static HugeArena& arena = *new HugeArena;
  return arena;
}

}  // namespace tare::device
