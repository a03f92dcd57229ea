// The arms of known cost: their bits are right, and they say what they spent.
#include <gtest/gtest.h>

#include <set>

#include "modules/plants.h"
#include "tests/modules/drive.h"

namespace tare::tests {
namespace {

using planted::kPlants;
using planted::Plant;
using planted::Spent;

Spent spent_after(const Executor& executor) {
  const auto spent = planted::parse_spent(executor.dispatched().configuration);
  EXPECT_TRUE(spent) << executor.dispatched().configuration;
  return spent.value_or(Spent{});
}

TEST(Plants, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Plant& plant : kPlants) {
    EXPECT_TRUE(names.insert(plant.name).second) << plant.name;
    EXPECT_EQ(planted::find_plant(plant.name), &plant);
  }
  EXPECT_EQ(planted::find_plant("planted"), nullptr);
}

TEST(Plants, ReadBackWhatTheyWrite) {
  const Spent spent{1.25e-6, 2.5e-6, 0.0103, 12345};
  const auto read = planted::parse_spent(planted::to_text(kPlants.back(), spent));
  ASSERT_TRUE(read);
  EXPECT_DOUBLE_EQ(read->region_seconds, spent.region_seconds);
  EXPECT_DOUBLE_EQ(read->dispatch_seconds, spent.dispatch_seconds);
  EXPECT_DOUBLE_EQ(read->share, spent.share);
  EXPECT_EQ(read->dispatches, spent.dispatches);
  EXPECT_FALSE(planted::parse_spent(""));
  EXPECT_FALSE(planted::parse_spent("x: spent region=1 dispatch=2 share=3"));
  EXPECT_FALSE(planted::parse_spent("x: spent region=much dispatch=2 share=3 dispatches=4"));
}

TEST(Planted, HasAnArmForEveryPlant) {
  const Module& module = Module::under_test();
  ASSERT_EQ(module.arms.size(), kPlants.size()) << module.absent;
  for (std::size_t i = 0; i < kPlants.size(); ++i)
    EXPECT_STREQ(module.arms[i]->name, kPlants[i].name);
}

// A spin never ends early; how late it ends is the machine's business.
TEST(Planted, SpendsWhatItPlantsAndSaysSo) {
  const Data data(64, 64, 1, 2, 7);
  const Buffer y(64);
  for (std::size_t i = 0; i < kPlants.size(); ++i) {
    const Plant& plant = kPlants[i];
    Executor executor(*Module::under_test().arms.at(i), data, 1);
    ASSERT_TRUE(executor.ready());
    for (std::uint32_t dispatch = 0; dispatch < 60; ++dispatch) {
      executor.enqueue(dispatch % 2, data.x, y);
      if (dispatch % 3 == 2) executor.fence();
    }
    expect_product(y, data, 1, 1);
    const Spent spent = spent_after(executor);
    EXPECT_EQ(spent.dispatches, 60u) << plant.name;
    EXPECT_GE(spent.region_seconds, plant.region_seconds) << plant.name;
    EXPECT_GE(spent.dispatch_seconds, plant.dispatch_seconds) << plant.name;
    EXPECT_GE(spent.share, plant.share) << plant.name;
  }
}

}  // namespace
}  // namespace tare::tests
