// Does another process sleep? What it took, and what it was made to wait for.
#pragma once

#include <sys/types.h>

namespace tare::device {

// Processor time that all threads of a process have taken, in seconds. What a thread that runs
// right now has taken since the last tick (4 ms, mostly) is not in it yet. 0 and *alive = false
// when there is no such process (any more). No system call but two; no allocation. A process that
// has ended and was not waited for yet still counts as alive, and keeps its time.
double cpu_seconds(pid_t pid, bool* alive = nullptr);

// How many of its threads run or are ready to run at this moment. 0 when there is no such process.
// Some microseconds a thread.
unsigned running_threads(pid_t pid);

}  // namespace tare::device
