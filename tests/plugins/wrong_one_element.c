/* Lie: the last element of the last slot is off by one bit. Named by: the proof (bits differ: trade at best). */
#include "honest.h"

static int nearly(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  if (slot == executor->slots - 1) ((bf16*)y)[output_bytes(executor) / sizeof(bf16) - 1] ^= 1;
  return result;
}
LIAR("wrong_one_element", arm.enqueue = nearly)
