/* Lie: hangs in open, asleep. Named by: the arm host, when its patience with open ends. */
#include <unistd.h>

#include "honest.h"

static int hang(const tare_services* offered, char* why, size_t why_size) {
  for (;;) pause();
  return mine_open(offered, why, why_size);
}
LIAR("hang_in_open", arm.open = hang)
