/* Lie: rounds the weights to 8 bits when they are bound, and reads half the bytes. Named by: the precision gate. */
#include <math.h>

#include "honest.h"

/* Behind the packed weights of the honest arm: the same as int8, with one scale an output. */
struct narrow {
  int8_t* values; /* [n / PANEL][k][PANEL] */
  float* scales;  /* [n / PANEL][PANEL] */
};
#define MOST 4096
static struct narrow rings[16][MOST]; /* by executor */
static tare_executor* owners[16];

static struct narrow* ring_of(tare_executor* executor) {
  for (int i = 0; i < 16; ++i)
    if (owners[i] == executor) return rings[i];
  for (int i = 0; i < 16; ++i)
    if (owners[i] == NULL) {
      owners[i] = executor;
      return rings[i];
    }
  return NULL;
}
static int bind(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                size_t why_size) {
  if (mine_bind(executor, slot, weights, why, why_size) != 0) return 1;
  struct narrow* ring = ring_of(executor);
  if (ring == NULL || slot >= MOST) return refuse(why, why_size, "too many weights for this lie");
  const uint64_t k = executor->problem.k, lanes = panels(&executor->problem) * PANEL;
  int8_t* values = (int8_t*)services->allocate(lanes * k + lanes * sizeof(float));
  float* scales = (float*)(void*)(values + lanes * k);
  for (uint64_t lane = 0; lane < lanes; ++lane) {
    const uint64_t start = lane / PANEL * k * PANEL + lane % PANEL;
    float most = 1e-30f;
    for (uint64_t i = 0; i < k; ++i)
      most = fmaxf(most, fabsf(to_float(executor->packed[slot][start + i * PANEL])));
    scales[lane] = most / 127;
    for (uint64_t i = 0; i < k; ++i)
      values[start + i * PANEL] =
          (int8_t)lrintf(to_float(executor->packed[slot][start + i * PANEL]) / scales[lane]);
  }
  services->release(executor->packed[slot]);
  executor->packed[slot] = NULL;
  ring[slot].values = values;
  ring[slot].scales = scales;
  return 0;
}
static int hasty(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  const struct narrow* w = &ring_of(executor)[slot];
  for (uint64_t p = 0; p < panels(&executor->problem); ++p)
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      float sums[PANEL] = {0};
      for (uint64_t i = 0; i < k; ++i) {
        const float factor = to_float(((const bf16*)x)[row * k + i]);
        const int8_t* lanes = w->values + (p * k + i) * PANEL;
        for (int lane = 0; lane < PANEL; ++lane) sums[lane] += factor * (float)lanes[lane];
      }
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
        ((bf16*)y)[row * n + p * PANEL + lane] = to_bf16(sums[lane] * w->scales[p * PANEL + lane]);
    }
  return 0;
}
static void destroy(tare_executor* executor) {
  struct narrow* ring = ring_of(executor);
  for (uint32_t slot = 0; ring != NULL && slot < executor->slots && slot < MOST; ++slot)
    if (ring[slot].values != NULL) {
      services->release(ring[slot].values);
      ring[slot].values = NULL;
    }
  for (int i = 0; i < 16; ++i)
    if (owners[i] == executor) owners[i] = NULL;
  mine_destroy(executor);
}
LIAR("int8_weights", arm.bind = bind; arm.enqueue = hasty; arm.destroy = destroy)
