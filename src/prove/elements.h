// Elements of x or of y as bit patterns: bf16 or f32, as the problem says. Views, like std::span;
// thread-safe as the memory behind them is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "formats/half.h"
#include "formats/weight_format.h"
#include "prove/generator.h"
#include "tare/arm.h"

namespace tare::prove {

// The bit pattern of `type` that stands for the same number (or class of NaN) as this bf16.
inline std::uint32_t pattern_in(std::uint32_t type, Bf16 bits) {
  return type == TARE_F32 ? std::uint32_t{bits} << 16U : bits;
}

class ConstElements {
 public:
  ConstElements() = default;
  // `type` is TARE_BF16 or TARE_F32; bf16 rounded to 8 bits by the arm is bf16 here.
  ConstElements(std::uint32_t type, const void* data, std::size_t size)
      : data_(static_cast<const std::byte*>(data)),
        size_(size),
        type_(type == TARE_F32 ? TARE_F32 : TARE_BF16) {}
  ConstElements(std::span<const Bf16> all) : ConstElements(TARE_BF16, all.data(), all.size()) {}
  ConstElements(std::span<Bf16> all) : ConstElements(std::span<const Bf16>(all)) {}
  ConstElements(const std::vector<Bf16>& all) : ConstElements(std::span(all)) {}

  std::uint32_t type() const { return type_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t size_bytes() const { return size_ * element_bytes(); }
  std::size_t element_bytes() const { return type_ == TARE_F32 ? sizeof(float) : sizeof(Bf16); }
  const std::byte* data() const { return data_; }

  std::uint32_t bits(std::size_t i) const {
    return type_ == TARE_F32 ? at<std::uint32_t>(i) : at<Bf16>(i);
  }
  float value(std::size_t i) const {
    return type_ == TARE_F32 ? std::bit_cast<float>(bits(i)) : formats::from_bf16(at<Bf16>(i));
  }

  ConstElements subspan(std::size_t first, std::size_t count) const {
    return {type_, data_ + first * element_bytes(), count};
  }
  ConstElements first(std::size_t count) const { return subspan(0, count); }

 private:
  template <typename Bits>
  Bits at(std::size_t i) const {
    Bits bits;
    std::memcpy(&bits, data_ + i * sizeof bits, sizeof bits);
    return bits;
  }

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t type_ = TARE_BF16;
};

class Elements {
 public:
  Elements() = default;
  Elements(std::uint32_t type, void* data, std::size_t size)
      : data_(static_cast<std::byte*>(data)), view_(type, data, size) {}
  Elements(std::span<Bf16> all) : Elements(TARE_BF16, all.data(), all.size()) {}
  Elements(std::vector<Bf16>& all) : Elements(std::span(all)) {}
  operator ConstElements() const { return view_; }

  std::uint32_t type() const { return view_.type(); }
  std::size_t size() const { return view_.size(); }
  std::size_t size_bytes() const { return view_.size_bytes(); }
  std::byte* data() const { return data_; }

  std::uint32_t bits(std::size_t i) const { return view_.bits(i); }
  float value(std::size_t i) const { return view_.value(i); }
  void set_bits(std::size_t i, std::uint32_t bits) const {
    std::byte* const at = data_ + i * view_.element_bytes();
    const auto low = static_cast<Bf16>(bits);
    if (type() == TARE_F32)
      std::memcpy(at, &bits, sizeof bits);
    else
      std::memcpy(at, &low, sizeof low);
  }
  // Rounded to nearest even where the type is narrower.
  void set(std::size_t i, float value) const {
    set_bits(
        i, type() == TARE_F32 ? std::bit_cast<std::uint32_t>(value) : formats::to_bf16_bits(value));
  }

  Elements subspan(std::size_t first, std::size_t count) const {
    return {type(), data_ + first * view_.element_bytes(), count};
  }
  Elements first(std::size_t count) const { return subspan(0, count); }
  Elements last(std::size_t count) const { return subspan(size() - count, count); }

  // As numbers in memory: for bf16 only, and for f32 only.
  std::span<Bf16> as_bf16() const { return {reinterpret_cast<Bf16*>(data_), size()}; }
  std::span<float> as_f32() const { return {reinterpret_cast<float*>(data_), size()}; }

 private:
  std::byte* data_ = nullptr;
  ConstElements view_;
};

// generate_activations, in the type of `into`.
inline void fill_activations(std::uint64_t seed, std::uint64_t slot, Elements into) {
  if (into.type() == TARE_F32)
    generate_activations(seed, slot, 0, into.as_f32());
  else
    generate_activations(seed, slot, 0, into.as_bf16());
}

// Both of one type; `into` at least as long.
inline void copy(ConstElements from, Elements into) {
  if (!from.empty()) std::memcpy(into.data(), from.data(), from.size_bytes());
}

// The first element whose bits differ; the size where none does. Both of one type and length.
inline std::size_t first_difference(ConstElements a, ConstElements b) {
  std::size_t i = 0;
  while (i < a.size() && a.bits(i) == b.bits(i)) ++i;
  return i;
}

// Elements that own their memory: zeros at first.
class ElementBuffer {
 public:
  ElementBuffer() = default;
  ElementBuffer(std::uint32_t type, std::size_t size)
      : type_(type), size_(size), bytes_(size * ConstElements(type, nullptr, 0).element_bytes()) {}
  explicit ElementBuffer(ConstElements from) : ElementBuffer(from.type(), from.size()) {
    copy(from, all());
  }

  Elements all() { return {type_, bytes_.data(), size_}; }
  ConstElements all() const { return {type_, bytes_.data(), size_}; }
  operator ConstElements() const { return all(); }
  std::size_t size() const { return size_; }
  void append(ConstElements more) {
    bytes_.insert(bytes_.end(), more.data(), more.data() + more.size_bytes());
    size_ += more.size();
  }
  bool operator==(const ElementBuffer&) const = default;  // bit patterns

 private:
  std::uint32_t type_ = TARE_BF16;
  std::size_t size_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace tare::prove
