/* honest.h: the honest arm that every lie is laid over. It is the example plugin
 * under another entry; a lying file includes this, defines the one function that lies, and names it
 * with LIAR. Valid C and C++.
 *
 *   LIAR("crash_in_enqueue", arm.enqueue = crash)
 *
 * Never load one of these outside an arm host: that is what they are for. */
#ifndef TARE_TRAPS_HONEST_H
#define TARE_TRAPS_HONEST_H

#define PANEL 64 /* as many sums as hide the latency of an addition: a lie needs a fast kernel */
#define tare_arm_v1 honest_arm_v1
#include "../../examples/plugin/plugin.c"
#undef tare_arm_v1

#ifdef __cplusplus
extern "C"
#endif
    TARE_EXPORT const tare_arm*
    tare_arm_v1(uint32_t index);

/* The honest arm, named after the file, with the given statements done to `arm`. */
#define LIAR(NAME, STATEMENTS)                  \
  const tare_arm* tare_arm_v1(uint32_t index) { \
    static tare_arm arm;                        \
    arm = *honest_arm_v1(0);                    \
    arm.name = NAME;                            \
    arm.title = NAME;                           \
    STATEMENTS;                                 \
    return index == 0 ? &arm : NULL;            \
  }

/* Bytes of y. */
static inline size_t output_bytes(const tare_executor* executor) {
  return (size_t)(executor->problem.rows * executor->problem.n) * sizeof(bf16);
}

/* Through a volatile pointer, so that no compiler removes it. */
static inline void segfault(void) {
  int* volatile nowhere = NULL;
  *(volatile int*)nowhere = 1;
}

#endif /* TARE_TRAPS_HONEST_H */
