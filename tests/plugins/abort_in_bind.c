/* Lie: aborts in bind, as a failed assertion does. Named by: the arm host, "bind". */
#include "honest.h"

static int give_up(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                   size_t why_size) {
  abort();
  return mine_bind(executor, slot, weights, why, why_size);
}
LIAR("abort_in_bind", arm.bind = give_up)
