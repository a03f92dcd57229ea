#include "apps/tare/calibrated.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "tests/device/scratch_folder.h"

namespace tare::app {
namespace {

Calibrated example() {
  return {"2026-11-30T12:00:00Z",
          "Test (Zen 9), 2 threads",
          2.2,
          {{"hot, quiet", 0.0031}, {"cold, quiet", 0.0123}}};
}

TEST(Calibrated, IsReadAsItWasSaved) {
  const device::ScratchFolder folder;
  const auto path = folder.path() / "new/folder/calibration.json";
  save_calibrated(path, {"older", "older", 1, {}});
  save_calibrated(path, example());
  const auto read = load_calibrated(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(example()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1)
      << "nothing is left beside the file";
}

TEST(Calibrated, WhatCannotBeReadIsNothing) {
  const device::ScratchFolder folder;
  const auto path = folder.path() / "calibration.json";
  EXPECT_FALSE(load_calibrated(path));
  for (const char* text : {"", "{", "[]", "{\"schema\": \"tare.calibrated/2\"}",
                           "{\"schema\": \"tare.calibrated/1\", \"date\": 3}"}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(load_calibrated(path)) << text;
  }
}

TEST(Calibrated, SaysWhereItCannotBeKept) {
  try {
    save_calibrated("/proc/nowhere/calibration.json", example());
    FAIL() << "saved below /proc";
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kMachine);
    EXPECT_NE(std::string(error.what()).find("/proc/nowhere"), std::string::npos);
  }
}

TEST(Calibrated, LiesInTheCacheFolder) {
  setenv("HOME", "/home/somebody", 1);
  setenv("XDG_CACHE_HOME", "/var/cache/mine", 1);
  EXPECT_EQ(calibrated_path(), "/var/cache/mine/tare/calibration.json");
  setenv("XDG_CACHE_HOME", "not/absolute", 1);  // the standard says: ignore it
  EXPECT_EQ(calibrated_path(), "/home/somebody/.cache/tare/calibration.json");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(calibrated_path(), "");
}

TEST(Calibrated, HoldsWatchedSettingsThatSawSomething) {
  judge::CalibrationRow watched, planted, blind;
  watched.setting = "hot, quiet";
  watched.watched = 3;
  watched.smallest90 = 0.004;
  blind.watched = 3;
  blind.smallest90 = std::numeric_limits<double>::infinity();
  const auto settings = settings_of({watched, planted, blind});
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0].name, "hot, quiet");
  EXPECT_EQ(settings[0].smallest, 0.004);
}

}  // namespace
}  // namespace tare::app
