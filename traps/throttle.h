// A machine that falls to half its speed and recovers, over and over, while this object lives.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace tare::traps {

class Throttle {
 public:
  // A process on every processor takes its share of it for one phase, and sleeps for the next, all
  // in step. Each ends by itself after a minute, whatever happens to this process.
  explicit Throttle(std::chrono::milliseconds phase);
  ~Throttle();
  Throttle(const Throttle&) = delete;
  Throttle& operator=(const Throttle&) = delete;

 private:
  std::vector<pid_t> children_;
};

}  // namespace tare::traps
