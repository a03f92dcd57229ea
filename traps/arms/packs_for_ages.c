/* Lie: needs 20 ms to pack what the incumbent packs at once, and says nothing of it. Named by: nothing; what preparing costs is told, and when it pays. */
#include "honest.h"
#include "spin.h"

/* Once a process: the first packing shows its price, and the ring does not take minutes. */
static int pack(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                size_t why_size) {
  if (executor->slots <= 8) spin_until(now_seconds() + 0.02);
  return mine_bind(executor, slot, weights, why, why_size);
}
LIAR("packs_for_ages", arm.bind = pack)
