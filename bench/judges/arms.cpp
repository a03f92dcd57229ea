#include "judges/arms.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "kernels/cpu/paths.h"
#include "kernels/sum_order.h"

namespace tare::bench {
namespace {

using kernels::Bf16;

void fill(Bf16* values, std::uint64_t count, std::mt19937_64& random) {
  std::normal_distribution<float> bell;
  std::generate_n(values, count, [&] { return kernels::narrow(bell(random)); });
}

Bf16* allocate(device::HugeArena& arena, std::uint64_t count) {
  auto* memory = static_cast<Bf16*>(arena.allocate(count * sizeof(Bf16)));
  if (memory == nullptr)
    fail(Blame::kMachine, "no memory for {} values: make the ring smaller", count);
  return memory;
}

}  // namespace

Arms::Arms(const ArmsShape& shape, std::uint32_t buffer_sets, std::uint64_t seed)
    : pool_(shape.threads), path_(kernels::choose_panel_path("")), sets_(buffer_sets) {
  const kernels::PackedShape packed{shape.k, shape.n};
  slots_ = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, (shape.ring_bytes + packed.bytes() - 1) / packed.bytes()));
  std::mt19937_64 random(seed);
  std::vector<Bf16> weights(shape.k * shape.n);
  fill(weights.data(), weights.size(), random);
  const kernels::Memory memory{[this](std::size_t bytes) { return arena_.allocate(bytes); },
                               [this](void* piece) { arena_.release(piece); }};
  for (BufferSet& set : sets_) {
    set.projection = std::make_unique<kernels::PanelProjection>(
        packed, kernels::onednn_order(shape.k), 1, slots_, path_, pool_, memory);
    for (std::uint32_t slot = 0; slot < slots_; ++slot) set.projection->bind(slot, weights.data());
    set.x = allocate(arena_, shape.k);
    set.y = allocate(arena_, shape.n);
    fill(set.x, shape.k, random);
  }
}

void Arms::dispatch(std::uint32_t buffer_set) {
  BufferSet& set = sets_[buffer_set];
  set.slot = (set.slot + 1) % slots_;
  run(set);
}

void Arms::dispatch_again(std::uint32_t buffer_set) {
  run(sets_[buffer_set]);
}

}  // namespace tare::bench
