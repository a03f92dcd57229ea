// Does another process sleep? What it took, and what it was made to wait for.
#pragma once

#include <sys/types.h>

namespace tare::device {

// Processor time that all threads of a process have taken, in seconds, to the nanosecond (no
// ticks), running threads included. 0 and *alive = false when there is no such process (any more).
// No system call but two; no allocation. A process that has ended and was not waited for yet still
// counts as alive, and keeps its time.
double cpu_seconds(pid_t pid, bool* alive = nullptr);

// Seconds that its threads were ready to run and had no processor, since they began: unlike the
// ticks of /proc/stat this shows a theft of microseconds. Sums over the threads that live now; 0
// where the kernel does not say (CONFIG_SCHED_INFO).
double waiting_seconds(pid_t pid);

}  // namespace tare::device
