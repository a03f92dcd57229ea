#include "device/guarded_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tare::device {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::byte kMargin{0xFF};

std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

GuardedPages::GuardedPages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = round_up(std::max<std::size_t>(bytes, 1), page);
  void* const at = mmap(nullptr, usable + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    fail(Blame::kMachine, "Not enough memory for {} bytes between guard pages.", bytes);
  mapping_ = {static_cast<std::byte*>(at), usable + 2 * page};
  usable_ = mapping_.subspan(page, usable);
  if (mprotect(usable_.data(), usable_.size(), PROT_READ | PROT_WRITE) != 0)
    fail(Blame::kMachine, "Not enough memory for {} bytes between guard pages.", bytes);
  bytes_ = usable_.subspan(usable - round_up(bytes, kAlignment), bytes);
  std::ranges::fill(usable_, kMargin);
  std::ranges::fill(bytes_, std::byte{0});
}

GuardedPages::~GuardedPages() {
  if (!mapping_.empty()) munmap(mapping_.data(), mapping_.size());
}

GuardedPages::GuardedPages(GuardedPages&& other) noexcept
    : mapping_(std::exchange(other.mapping_, {})), usable_(other.usable_), bytes_(other.bytes_) {}

void GuardedPages::forbid_writes() {
  mprotect(usable_.data(), usable_.size(), PROT_READ);
}

bool GuardedPages::margins_intact() const {
  const auto untouched = [](std::byte byte) { return byte == kMargin; };
  const auto before = usable_.first(static_cast<std::size_t>(bytes_.data() - usable_.data()));
  const auto behind = usable_.subspan(before.size() + bytes_.size());
  return std::ranges::all_of(before, untouched) && std::ranges::all_of(behind, untouched);
}

}  // namespace tare::device
