/* Lie: hangs in fence, asleep. Named by: the arm host, when its patience with fence ends. */
#include <unistd.h>

#include "honest.h"

static int hang(tare_executor* executor) {
  for (;;) pause();
  return mine_fence(executor);
}
LIAR("hang_in_fence", arm.fence = hang)
