// For tests that hold for every weight format: INSTANTIATE_TEST_SUITE_P(Formats, Suite,
// every_format(), name_of_format).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "formats/weight_format.h"

namespace tare::formats {

inline auto every_format() {
  return testing::ValuesIn(weight_formats().begin(), weight_formats().end());
}

// As GoogleTest allows: no '-'.
inline std::string name_of_format(const testing::TestParamInfo<WeightFormat>& test) {
  std::string name(test.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace tare::formats
