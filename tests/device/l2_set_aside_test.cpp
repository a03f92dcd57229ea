#include "device/l2_set_aside.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace tare::device {
namespace {

TEST(L2SetAside, IsAskedOfADriverThatTheProcessHasLoaded) {
  setenv("FAKE_CUDA_PERSISTING_L2", "33554432", 1);
  EXPECT_EQ(l2_set_aside_bytes("/nowhere/libcuda.so.1"), 0U);
  void* driver = dlopen(TARE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(driver, nullptr) << dlerror();
  EXPECT_EQ(l2_set_aside_bytes(TARE_FAKE_CUDA), 33554432U);
  unsetenv("FAKE_CUDA_PERSISTING_L2");
  EXPECT_EQ(l2_set_aside_bytes(TARE_FAKE_CUDA), 0U);
  dlclose(driver);
}

TEST(L2SetAside, ALibraryThatDoesNotTellIsNothing) {
  EXPECT_EQ(l2_set_aside_bytes("libc.so.6"), 0U);
}

}  // namespace
}  // namespace tare::device
