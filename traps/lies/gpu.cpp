// What only a GPU can show: listed, and not faked.
#include "traps/trap.h"

namespace tare::traps {
extern const Trap kPersistingL2, kGraphOnOneSide, kCrowdedProcess, kContextSwitch;

const Trap kPersistingL2{"T6",
                         "persisting-l2",
                         "a persisting-L2 carve-out survives flushes",
                         "llm.c#851 (3530 vs 714 GB/s); nvbench#458",
                         "needs a GPU's persisting L2 lines",
                         "limit",
                         nullptr};
const Trap kGraphOnOneSide{"T19",
                           "graph-on-one-side",
                           "one arm is launched from a graph, the other call by call",
                           "helion#2803; pytorch#179246",
                           "needs a GPU's launch queue and graphs",
                           "overhead",
                           nullptr};
const Trap kCrowdedProcess{"T41",
                           "crowded-process",
                           "what else the process holds slows the arm",
                           "measured on H200: 0.35 us a graph node",
                           "needs a GPU's streams and graphs",
                           "control",
                           nullptr};
const Trap kContextSwitch{"T42",
                          "context-switch",
                          "the hand-over between processes is paid inside the region",
                          "measured on H200: 150 us on the host's clock",
                          "needs a GPU's context switch",
                          "clocks",
                          nullptr};

}  // namespace tare::traps
