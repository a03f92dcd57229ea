// Processes that burn every processor while this object lives: a machine that others use, too.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tare::traps {

class Neighbours {
 public:
  // `phase_seconds`: they burn for as long and sleep for as long, all in step; 0: they always burn.
  // Each ends by itself after a minute, whatever happens to this process.
  explicit Neighbours(double phase_seconds = 0);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  std::vector<pid_t> children_;
};

}  // namespace tare::traps
