#include "arms/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"

namespace tare::arms {
namespace {

TEST(SharedMemory, IsZeroedAndShared) {
  const SharedMemory ours = SharedMemory::create("test", 4096);
  const SharedMemory theirs =
      SharedMemory::attach(dup(ours.descriptor()), 4096, SharedMemory::Access::kReadWrite);
  EXPECT_EQ(static_cast<char*>(ours.data())[100], 0);
  static_cast<char*>(theirs.data())[100] = 'x';
  EXPECT_EQ(static_cast<char*>(ours.data())[100], 'x');
}

TEST(SharedMemory, CannotBeMappedWritableOnceSealed) {
  SharedMemory memory = SharedMemory::create("test", 4096);
  memory.forbid_new_writers();
  static_cast<char*>(memory.data())[0] = 'x';  // the mapping that exists stays
  EXPECT_THROW(
      SharedMemory::attach(dup(memory.descriptor()), 4096, SharedMemory::Access::kReadWrite),
      Error);
  const SharedMemory reader =
      SharedMemory::attach(dup(memory.descriptor()), 4096, SharedMemory::Access::kReadOnly);
  EXPECT_EQ(static_cast<const char*>(reader.data())[0], 'x');
}

TEST(SharedMemory, SaysWhenThereIsNotEnough) {
  EXPECT_THROW(SharedMemory::create("test", std::size_t{1} << 62), Error);
}

TEST(SharedMemory, Moves) {
  SharedMemory first = SharedMemory::create("test", 4096);
  void* data = first.data();
  const SharedMemory second = std::move(first);
  EXPECT_EQ(second.data(), data);
}

}  // namespace
}  // namespace tare::arms
