#include "prove/guard.h"

#include <utility>

#include "base/error.h"

namespace tare::prove {
namespace {

constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + kOutputAlignment - 1) / kOutputAlignment * kOutputAlignment;
}

// The pattern depends on the place: a guard copied from elsewhere, zeros, or any repeated value
// shows. (The top byte of a Weyl sequence; a single stray byte has a chance of 1 in 256 to look
// right, a bf16 of 1 in 65536.)
std::byte pattern(std::size_t offset) {
  return static_cast<std::byte>((static_cast<std::uint32_t>(offset) * 0x9E3779B1U) >> 24U);
}

}  // namespace

std::string to_string(const Breach& breach) {
  return fmt::format("wrote {} bytes outside its outputs, nearest {} bytes {} output {}",
                     breach.bytes, breach.distance,
                     breach.before ? "before the start of" : "past the end of", breach.output);
}

GuardedArea::GuardedArea(std::vector<std::size_t> output_bytes) : sizes_(std::move(output_bytes)) {
  std::size_t end = 0;
  for (const std::size_t bytes : sizes_) {
    offsets_.push_back(align_up(end + kSideGuard));
    end = offsets_.back() + bytes;
  }
  total_ = align_up(end + kEndGuard);
}

std::span<std::byte> GuardedArea::output(std::span<std::byte> area, std::size_t output) const {
  require(area.data(), area.size());
  return area.subspan(offsets_.at(output), sizes_[output]);
}

void GuardedArea::write_guards(std::span<std::byte> area) const {
  require(area.data(), area.size());
  for (const Zone& zone : zones()) {
    for (std::size_t i = zone.first; i < zone.last; ++i) area[i] = pattern(i);
  }
}

std::optional<Breach> GuardedArea::check_guards(std::span<const std::byte> area) const {
  require(area.data(), area.size());
  std::optional<Breach> nearest;
  std::uint64_t changed = 0;
  for (const Zone& zone : zones()) {
    for (std::size_t i = zone.first; i < zone.last; ++i) {
      if (area[i] == pattern(i)) continue;
      ++changed;
      const std::size_t distance = zone.before ? zone.last - 1 - i : i - zone.first;
      if (!nearest || distance < nearest->distance) {
        nearest = Breach{zone.output, zone.before, distance, 0};
      }
    }
  }
  if (nearest) nearest->bytes = changed;
  return nearest;
}

std::vector<GuardedArea::Zone> GuardedArea::zones() const {
  if (sizes_.empty()) return {{0, total_, 0, false}};
  std::vector<Zone> zones = {{0, offsets_.front(), 0, true}};
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const std::size_t next = i + 1 < sizes_.size() ? offsets_[i + 1] : total_;
    zones.push_back({offsets_[i] + sizes_[i], next, i, false});
  }
  return zones;
}

void GuardedArea::require(const std::byte* area, std::size_t bytes) const {
  if (bytes < total_) {
    fail(Blame::kMachine, "an output area of {} bytes is too small: its guards and outputs need {}",
         bytes, total_);
  }
  if (reinterpret_cast<std::uintptr_t>(area) % kOutputAlignment != 0) {
    fail(Blame::kMachine, "an output area must start on a {}-byte border", kOutputAlignment);
  }
}

}  // namespace tare::prove
