#include "traps/device_row.h"

namespace tare::traps {

NaivePlan on_device() {
  NaivePlan plan;
  plan.k = plan.n = 1536;
  plan.copies = 16;
  plan.samples = 30;
  plan.dispatches = 64;
  plan.staged = true;
  return plan;
}

std::vector<std::string> device_row(const std::vector<std::string>& more, const char* ring) {
  std::vector<std::string> arguments{
      "--device",          "cuda", "--shape",     "1536x1536",     "--rows", "1",
      "--seconds-per-row", "1.0",  "--incumbent", "cublas-gemmex", "--ring", ring};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace tare::traps
