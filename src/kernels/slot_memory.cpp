#include "kernels/slot_memory.h"

#include <utility>

#include "base/error.h"

namespace tare::kernels {
namespace {

// Threads' scratch starts on pages of their own.
constexpr std::uint64_t kPage = 4096;
std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

SlotMemory::SlotMemory(Memory memory, std::uint32_t slots)
    : memory_(std::move(memory)), slots_(slots) {}

SlotMemory::Block SlotMemory::allocate(std::uint64_t bytes, const char* purpose) const {
  void* memory = memory_.allocate(bytes);
  if (memory == nullptr)
    fail(Blame::kMachine, "no memory for {} bytes of {}: make the ring smaller", bytes, purpose);
  return {memory, memory_.release};
}

std::byte* SlotMemory::make_slot(std::uint32_t slot, std::uint64_t bytes) {
  Block& packed = slots_.at(slot);
  if (packed == nullptr) packed = allocate(bytes, "packed weights");
  return static_cast<std::byte*>(packed.get());
}

void SlotMemory::make_scratch(std::uint32_t threads, std::uint64_t bytes_each) {
  const std::uint64_t stride = whole_pages(bytes_each);
  if (stride <= scratch_stride_) return;
  scratch_ = allocate(stride * threads, "scratch");
  scratch_stride_ = stride;
}

}  // namespace tare::kernels
