#include <gtest/gtest.h>

#include <cstring>

#include "arms/host_process.h"

int main(int count, char** arguments) {
  using namespace tare::arms;
  if (count > 1 && std::strcmp(arguments[1], kHostVerb) == 0)
    return run_host(parse_host_arguments(count - 2, arguments + 2));
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
