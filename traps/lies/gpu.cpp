// Seen on a GPU, and not told again: listed, and not faked.
#include "traps/trap.h"

namespace tare::traps {
extern const Trap kPersistingL2, kCrowdedProcess, kContextSwitch;

const Trap kPersistingL2{"T6",
                         "persisting-l2",
                         "a persisting-L2 carve-out survives flushes",
                         "llm.c#851 (3530 vs 714 GB/s); nvbench#458",
                         "needs a GPU's persisting L2 lines",
                         "limit",
                         nullptr,
                         true};
const Trap kCrowdedProcess{"T41",
                           "crowded-process",
                           "what else the process holds slows the arm",
                           "measured on H200: 0.35 us a graph node",
                           "needs a GPU's streams and graphs",
                           "control",
                           nullptr,
                           true};
const Trap kContextSwitch{"T42",
                          "context-switch",
                          "the hand-over between processes is paid inside the region",
                          "measured on H200: 150 us on the host's clock",
                          "needs a GPU's context switch",
                          "clocks",
                          nullptr,
                          true};

}  // namespace tare::traps
