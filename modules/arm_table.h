// The functions of the C ABI that only pass a call on to the module's executor, and the table of
// them all.
#pragma once

#include <cstdint>

#include "module_support.h"

namespace tare::modules {

struct Identity {
  std::uint32_t flags;
  const char* name;
  const char* title;
  const char* version;
};

// What a module writes itself: everything that comes before there is an executor.
struct Beginning {
  decltype(tare_arm::open) open;
  decltype(tare_arm::supports) supports;
  decltype(tare_arm::prepare) prepare;
};

// An Executor (the module's tare_executor) has
//   void bind(slot, weights), void set_rows(rows), void describe(record): may throw;
//   bool enqueue(slot, x, y) noexcept, bool fence() noexcept: the timed path, false for a failure.
template <typename Executor>
tare_arm arm_table(const Identity& identity, const Beginning& beginning) {
  return {
      .abi = TARE_ARM_ABI,
      .flags = identity.flags,
      .name = identity.name,
      .title = identity.title,
      .version = identity.version,
      .open = beginning.open,
      .supports = beginning.supports,
      .prepare = beginning.prepare,
      .bind =
          [](Executor* executor, uint32_t slot, const void* weights, char* why, size_t why_size) {
            return fenced(why, why_size, [&] { executor->bind(slot, weights); });
          },
      .set_rows =
          [](Executor* executor, uint32_t rows, char* why, size_t why_size) {
            return fenced(why, why_size, [&] { executor->set_rows(rows); });
          },
      .enqueue = [](Executor* executor, uint32_t slot, const void* x,
                    void* y) { return executor->enqueue(slot, x, y) ? 0 : 1; },
      .fence = [](Executor* executor) { return executor->fence() ? 0 : 1; },
      .dispatched =
          [](Executor* executor, tare_dispatch_record* record) {
            return fenced([&] { executor->describe(*record); });
          },
      .destroy = [](Executor* executor) { delete executor; },
  };
}

}  // namespace tare::modules
