// Memory on huge pages for weights: the same pages for every arm, whatever library it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace tare::device {

// Pieces cut out of large chunks. A chunk is aligned to 2 MiB, advised to be on huge pages, and
// touched as far as pieces reach before one is given out, so that no piece can fault later.
// Released memory is kept and given out again: on a virtual machine the first touch of memory ran
// at 0.45 GB/s where later touches ran at 6. Thread safe.
class HugeArena {
 public:
  static constexpr std::size_t kAlignment = 64;
  // Large, so that pieces of tens of megabytes leave little of a chunk over.
  static constexpr std::size_t kChunkBytes = std::size_t{256} << 20;  // or a multiple

  HugeArena() = default;
  ~HugeArena();  // every piece becomes invalid
  HugeArena(const HugeArena&) = delete;
  HugeArena& operator=(const HugeArena&) = delete;

  // 64-byte aligned and zeroed. Null when the machine, or this process's control group, has not
  // that much memory available: asked before it is taken, so that the kernel never has to kill a
  // process for it. A request of 0 bytes gets a piece of its own, too.
  void* allocate(std::size_t bytes) noexcept;

  // False when `piece` is not one of this arena (or was released before): nothing happens then.
  // Null is fine.
  bool release(void* piece) noexcept;

  // Gives chunks without pieces back to the machine.
  void trim() noexcept;

  std::uint64_t bytes_in_use() const;    // of pieces given out, rounded up to whole cache lines
  std::uint64_t bytes_reserved() const;  // of chunks held, touched or not

 private:
  using Address = std::uintptr_t;
  struct Chunk {
    std::size_t bytes = 0;
    std::size_t touched = 0;  // from its start, whole huge pages
    std::size_t used_before =
        0;  // bytes from its start that were given out at some time, and may not be zero
    std::size_t pieces = 0;
  };
  using Ranges = std::map<Address, std::size_t>;  // start -> bytes

  void* take(std::size_t bytes, std::size_t& dirty_bytes);  // null: no memory
  Ranges::iterator tightest_fit(std::size_t bytes);
  bool grow(std::size_t bytes);
  bool touch_until(Address end);  // the pages of a piece that would end there
  void* cut(Ranges::iterator range, std::size_t bytes, std::size_t& dirty_bytes);
  void give_back(Ranges::node_type piece);
  bool drop_empty_chunks();  // whether there were any
  std::map<Address, Chunk>::iterator chunk_of(Address address);

  mutable std::mutex mutex_;
  std::map<Address, Chunk> chunks_;
  Ranges free_, pieces_;  // disjoint; together they cover the chunks
  std::uint64_t in_use_ = 0, reserved_ = 0;
};

// The arena of this process. It exists because the callbacks of tare_services carry no context;
// whoever can, makes an arena of his own and hands it on.
HugeArena& huge_arena();

}  // namespace tare::device
