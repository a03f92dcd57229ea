/* plugin.c: a kernel of your own, as Tare loads it. Naive, correct, and whole: one file, no
 * library.
 *
 *   cc -O2 -shared -fPIC -I include -o libmine.so examples/plugin/plugin.c
 *   ./tare headroom --shape 4096x1024 --arm ./libmine.so
 *
 * It computes y[rows, n] = x[rows, k] . W[n, k]^T, and adds a bias[n], in bf16 with f32 sums. The
 * one idea in it: bind() lays the weights out in panels of 16 outputs, so that the innermost loop
 * runs over outputs that lie side by side and any compiler turns it into vector instructions. Every
 * output has one accumulator of its own, which walks along k in the same order whatever the row
 * count: the bits of a row do not depend on its neighbours.
 *
 * Also valid C++. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tare/arm.h"

#ifndef PANEL
#define PANEL 16 /* outputs side by side */
#endif

typedef uint16_t bf16; /* the upper half of a float's bits */

static float to_float(bf16 value) {
  uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Rounded once, to nearest even. A NaN is cut short instead: rounding could carry it into infinity.
 */
static bf16 to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (bf16)((bits >> 16) | 0x40u);
  return (bf16)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

static int refuse(char* why, size_t why_size, const char* sentence) {
  snprintf(why, why_size, "%s", sentence);
  return 1;
}

/* ---- once per process
 * ------------------------------------------------------------------------------- */

static const tare_services* services; /* valid for the life of the process */

static int mine_open(const tare_services* offered, char* why, size_t why_size) {
  if (offered->abi != TARE_ARM_ABI) return refuse(why, why_size, "built for another tare/arm.h");
  services = offered;
  return 0;
}

/* Say no to everything that you do not compute at exactly these types: precision is part of the
 * problem. */
static int mine_supports(const tare_problem* problem, char* why, size_t why_size) {
  if (problem->weights != TARE_BF16 || problem->activations != TARE_BF16 ||
      problem->output != TARE_BF16 || problem->accumulator != TARE_F32) {
    return refuse(why, why_size, "computes bf16 with f32 sums only");
  }
  if (problem->bias != 0 && problem->bias != TARE_BF16)
    return refuse(why, why_size, "adds a bias of bf16 only");
  return 0;
}

/* ---- preparing: all that can be done once, timed apart
 * ------------------------------------------------- */

/* An executor is yours to define. This one: the problem, and the packed weights of every slot. */
struct tare_executor {
  tare_problem problem;
  uint32_t slots;
  /* [slots] -> [n / PANEL, rounded up][k][PANEL], and where there is a bias [n / PANEL][PANEL] */
  bf16** packed;
};

static uint64_t panels(const tare_problem* problem) {
  return (problem->n + PANEL - 1) / PANEL;
}

static uint64_t packed_weights(const tare_problem* problem) {
  return panels(problem) * problem->k * PANEL;
}

/* Behind W, from the next multiple of 64 bytes on. */
static const bf16* bias_of(const tare_problem* problem, const void* weights) {
  const uint64_t bytes = problem->n * problem->k * sizeof(bf16);
  return (const bf16*)((const char*)weights + (bytes + 63) / 64 * 64);
}

static void mine_destroy(tare_executor* executor) {
  for (uint32_t slot = 0; slot < executor->slots; ++slot) {
    if (executor->packed[slot] != NULL) services->release(executor->packed[slot]);
  }
  free(executor->packed);
  free(executor);
}

static int mine_prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor,
                        char* why, size_t why_size) {
  tare_executor* made = (tare_executor*)malloc(sizeof *made);
  if (made == NULL) return refuse(why, why_size, "out of memory");
  made->problem = *problem;
  made->slots = slots;
  made->packed = (bf16**)calloc(slots, sizeof *made->packed);
  if (made->packed == NULL) {
    free(made);
    return refuse(why, why_size, "out of memory");
  }
  *executor = made;
  return 0;
}

/* `weights` is good during this call only (the flag TARE_READS_WEIGHTS_IN_PLACE would keep it), so
 * pack. The services' memory is zeroed, which pads the last panel, and lies on the same pages as
 * every other arm's. */
static int mine_bind(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                     size_t why_size) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  const bf16* w = (const bf16*)weights;
  if (executor->packed[slot] == NULL) { /* a slot may be bound again */
    const uint64_t bias = executor->problem.bias != 0 ? panels(&executor->problem) * PANEL : 0;
    executor->packed[slot] = (bf16*)services->allocate(
        (size_t)(packed_weights(&executor->problem) + bias) * sizeof(bf16));
  }
  bf16* packed = executor->packed[slot];
  if (packed == NULL) return refuse(why, why_size, "out of memory for packed weights");
  for (uint64_t output = 0; output < n; ++output) {
    bf16* lane = packed + output / PANEL * k * PANEL + output % PANEL;
    for (uint64_t i = 0; i < k; ++i) lane[i * PANEL] = w[output * k + i];
  }
  if (executor->problem.bias != 0)
    memcpy(packed + packed_weights(&executor->problem), bias_of(&executor->problem, weights),
           (size_t)n * sizeof(bf16));
  return 0;
}

/* The packed weights serve any row count, so this is all. NULL instead would be right, too: Tare
 * prepares anew. */
static int mine_set_rows(tare_executor* executor, uint32_t rows, char* why, size_t why_size) {
  (void)why;
  (void)why_size;
  executor->problem.rows = rows;
  return 0;
}

/* ---- the timed part: no allocation, no planning, no packing
 * ------------------------------------------------ */

static void add_products(float sums[PANEL], float x, const bf16* w) {
  for (int lane = 0; lane < PANEL; ++lane) sums[lane] += x * to_float(w[lane]);
}

/* 16 outputs of one row. Along k in pairs, the odd element first: the order of the processors' own
 * bf16 instruction (vdpbf16ps), so the bits are those of kernels built on it. A product of two bf16
 * is exact in a float, so it makes no difference whether the compiler fuses it with the sum. */
static void dot_panel(const bf16* x, const bf16* panel, uint64_t k, float sums[PANEL]) {
  for (int lane = 0; lane < PANEL; ++lane) sums[lane] = 0;
  for (uint64_t i = 0; i + 1 < k; i += 2) {
    add_products(sums, to_float(x[i + 1]), panel + (i + 1) * PANEL);
    add_products(sums, to_float(x[i]), panel + i * PANEL);
  }
  if (k % 2 != 0) add_products(sums, to_float(x[k - 1]), panel + (k - 1) * PANEL);
}

static int mine_enqueue(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  const bf16* bias = executor->problem.bias == 0
                         ? NULL
                         : executor->packed[slot] + packed_weights(&executor->problem);
  for (uint64_t p = 0; p < panels(&executor->problem); ++p) {
    const uint64_t first = p * PANEL;
    const uint64_t lanes = n - first < PANEL ? n - first : PANEL; /* never write past y's end */
    const bf16* panel = executor->packed[slot] + first * k;
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      float sums[PANEL];
      dot_panel((const bf16*)x + row * k, panel, k, sums);
      if (bias != NULL)
        for (int lane = 0; lane < PANEL; ++lane) sums[lane] += to_float(bias[first + lane]);
      bf16* out = (bf16*)y + row * n + first;
      for (uint64_t lane = 0; lane < lanes; ++lane) out[lane] = to_bf16(sums[lane]);
    }
  }
  return 0;
}

/* Everything was done in enqueue. Wait here for your threads or your device, if you have any. */
static int mine_fence(tare_executor* executor) {
  (void)executor;
  return 0;
}

static int mine_dispatched(tare_executor* executor, tare_dispatch_record* record) {
  (void)executor;
  memset(record, 0, sizeof *record);
  snprintf(record->kernel, sizeof record->kernel, "panel%d", PANEL);
  snprintf(record->isa, sizeof record->isa, "as compiled");
  snprintf(record->configuration, sizeof record->configuration, "weights [n/%d][k][%d]", PANEL,
           PANEL);
  snprintf(record->library, sizeof record->library, "example plugin 1");
  record->threads = 1;
  return 0;
}

/* ---- the one exported symbol
 * ------------------------------------------------------------------------------- */

TARE_EXPORT const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm mine = {TARE_ARM_ABI,
                                0,
                                "mine",
                                "my kernel",
                                "1",
                                mine_open,
                                mine_supports,
                                mine_prepare,
                                mine_bind,
                                mine_set_rows,
                                mine_enqueue,
                                mine_fence,
                                mine_dispatched,
                                mine_destroy};
  return index == 0 ? &mine : NULL;
}
