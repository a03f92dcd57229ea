/* Lie: hangs in enqueue, asleep. Named by: the arm host, when its patience with enqueue ends. */
#include <unistd.h>

#include "honest.h"

static int hang(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  for (;;) pause();
  return mine_enqueue(executor, slot, x, y);
}
LIAR("hang_in_enqueue", arm.enqueue = hang)
