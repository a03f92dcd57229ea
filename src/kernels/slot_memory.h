// Memory of a projection: packed weights of a ring of slots, and scratch for every thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tare::kernels {

// Where packed weights and scratch come from: zeroed, 64-byte aligned, null when there is none.
struct Memory {
  std::function<void*(std::size_t bytes)> allocate;
  std::function<void(void* memory)> release;
};

// Not thread safe, but for the const functions.
class SlotMemory {
 public:
  SlotMemory(Memory memory, std::uint32_t slots);

  // The slot's memory, made on first use. These throw tare::Error (Blame::kMachine) when memory
  // runs out.
  std::byte* make_slot(std::uint32_t slot, std::uint64_t bytes);
  // At least so much for each thread; what was there before is lost.
  void make_scratch(std::uint32_t threads, std::uint64_t bytes_each);

  const std::byte* slot(std::uint32_t slot) const {
    return static_cast<const std::byte*>(slots_[slot].get());
  }
  std::byte* scratch(std::uint32_t thread) const {
    return static_cast<std::byte*>(scratch_.get()) + thread * scratch_stride_;
  }

 private:
  using Block = std::unique_ptr<void, std::function<void(void*)>>;
  Block allocate(std::uint64_t bytes, const char* purpose) const;

  Memory memory_;
  std::vector<Block> slots_;
  Block scratch_;
  std::uint64_t scratch_stride_ = 0;  // bytes between two threads' scratch
};

}  // namespace tare::kernels
