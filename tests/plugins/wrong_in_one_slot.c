/* Lie: one element of one slot in the middle of the ring is off by one bit. Named by: the bits, when every slot's digest is compared. */
#include "honest.h"

static int nearly(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  if (slot == executor->slots / 2) ((bf16*)y)[output_bytes(executor) / sizeof(bf16) - 1] ^= 1;
  return result;
}
LIAR("wrong_in_one_slot", arm.enqueue = nearly)
