// A module of the build, loaded as the arm host loads it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "tare/arm.h"
#include "tests/bf16_problem.h"
#include "tests/kernels/heap.h"

namespace tare::kernels {

inline tare_services services_with(std::uint32_t threads) {
  return {
      .abi = TARE_ARM_ABI, .threads = threads, .allocate = heap_allocate, .release = heap_release};
}

class Module {
 public:
  explicit Module(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    entry_ = reinterpret_cast<decltype(&tare_arm_v1)>(dlsym(library_, TARE_ARM_ENTRY));
  }
  bool loaded() const { return entry_ != nullptr; }
  const tare_arm* arm(std::uint32_t index) const { return entry_(index); }

 private:
  void* library_;  // stays loaded: an arm's pointer is valid for the life of the process
  decltype(&tare_arm_v1) entry_ = nullptr;
};

}  // namespace tare::kernels
