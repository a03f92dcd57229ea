/* Lie: leaves denormals flushed (MXCSR FTZ and DAZ) after enqueue. Named by: the arm host (floating-point mode changed). (x86-64; honest elsewhere.) */
#include "honest.h"

#ifdef __x86_64__
#include <xmmintrin.h>
static void flush_denormals(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040u);
}
#else
static void flush_denormals(void) {}
#endif
static int hasty(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  flush_denormals();
  return mine_enqueue(executor, slot, x, y);
}
LIAR("leaves_denormals_off", arm.enqueue = hasty)
