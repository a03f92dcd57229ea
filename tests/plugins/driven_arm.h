// Drives a module through its C ABI, in this process: what an arm host does, without the walls.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "prove/generator.h"
#include "prove/weights.h"
#include "tare/arm.h"
#include "tests/bf16_problem.h"

namespace tare::testing_plugins {

inline void* allocate_zeroed(std::size_t bytes) {
  const std::size_t whole = (bytes + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, whole);
  if (memory != nullptr) std::memset(memory, 0, whole);
  return memory;
}

inline const tare_services* services() {
  static const tare_services offered{TARE_ARM_ABI, 1, allocate_zeroed, std::free};
  return &offered;
}

// Loads a module for good. Its arm 0, or NULL when it has none.
inline const tare_arm* load_arm(const std::string& path) {
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) fail(Blame::kArm, "{}", dlerror());
  auto* entry = reinterpret_cast<const tare_arm* (*)(std::uint32_t)>(dlsym(module, TARE_ARM_ENTRY));
  if (entry == nullptr) fail(Blame::kArm, "{} has no entry", path);
  return entry(0);
}

// An arm with the generated weights of `seed` bound to its slots. Throws tare::Error with the
// module's own sentence.
class DrivenArm {
 public:
  DrivenArm(const std::string& path, const tare_problem& problem, std::uint32_t slots,
            std::uint64_t seed)
      : arm_(*load_arm(path)), problem_(problem) {
    require("open", arm_.open(services(), why_, sizeof why_));
    require("supports", arm_.supports(&problem_, why_, sizeof why_));
    require("prepare", arm_.prepare(&problem_, slots, &executor_, why_, sizeof why_));
    prove::WeightKey key{problem.weights,     problem.k,   problem.n, seed, 0,
                         prove::Data::kUsual, problem.bias};
    std::vector<std::byte> weights(prove::weight_buffer_bytes(key));
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      key.slot = slot;
      prove::generate_slot(key, weights.data());
      require("bind", arm_.bind(executor_, slot, weights.data(), why_, sizeof why_));
    }
  }
  ~DrivenArm() { arm_.destroy(executor_); }
  DrivenArm(const DrivenArm&) = delete;
  DrivenArm& operator=(const DrivenArm&) = delete;

  void run(std::uint64_t slot, std::span<const prove::Bf16> x, std::span<prove::Bf16> y) {
    require("enqueue",
            arm_.enqueue(executor_, static_cast<std::uint32_t>(slot), x.data(), y.data()));
    require("fence", arm_.fence(executor_));
  }
  void set_rows(std::uint32_t rows) {
    require("set_rows", arm_.set_rows(executor_, rows, why_, sizeof why_));
  }
  tare_dispatch_record dispatched() {
    tare_dispatch_record record{};
    require("dispatched", arm_.dispatched(executor_, &record));
    return record;
  }

 private:
  void require(const char* call, int result) {
    if (result != 0) fail(Blame::kArm, "{}: {}", call, why_);
  }

  const tare_arm& arm_;
  tare_problem problem_;
  tare_executor* executor_ = nullptr;
  char why_[256] = "";
};

}  // namespace tare::testing_plugins
