/* Lie: has the incumbent's bits at one row, where it is tested, and adds in another order from two rows on. Named by: the bits at the row count that is weighed. */
#define _GNU_SOURCE
#include "honest.h"

#include "beside.h"

/* Two executors under one: Tare's own kernel for one row, the other order for more. */
struct pair {
  tare_executor* one_row;
  tare_executor* more;
};
static struct pair* of(tare_executor* executor) {
  return (struct pair*)(void*)executor;
}
static const tare_arm* own_kernel(void) {
  static const tare_arm* arm;
  if (arm == NULL) arm = arm_beside("tare_cpu");
  return arm;
}

/* Along k in two halves, added at the end. */
static void dot_halves(const bf16* x, const bf16* panel, uint64_t k, float sums[PANEL]) {
  float second[PANEL];
  dot_panel(x, panel, k / 2, sums);
  dot_panel(x + k / 2, panel + k / 2 * PANEL, k - k / 2, second);
  for (int lane = 0; lane < PANEL; ++lane) sums[lane] += second[lane];
}
static int in_halves(tare_executor* executor, uint32_t slot, const bf16* x, bf16* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  for (uint64_t p = 0; p < panels(&executor->problem); ++p)
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      float sums[PANEL];
      dot_halves(x + row * k, executor->packed[slot] + p * PANEL * k, k, sums);
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
        y[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
    }
  return 0;
}

static int open(const tare_services* offered, char* why, size_t why_size) {
  if (own_kernel() == NULL) return refuse(why, why_size, "the module tare_cpu is not there");
  if (own_kernel()->open(offered, why, why_size) != 0) return 1;
  return mine_open(offered, why, why_size);
}
static int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  struct pair* made = (struct pair*)calloc(1, sizeof *made);
  tare_problem one_row = *problem;
  one_row.rows = 1;
  if (made == NULL || own_kernel()->prepare(&one_row, slots, &made->one_row, why, why_size) != 0 ||
      mine_prepare(problem, slots, &made->more, why, why_size) != 0)
    return 1;
  *executor = (tare_executor*)(void*)made;
  return 0;
}
static int bind(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                size_t why_size) {
  if (own_kernel()->bind(of(executor)->one_row, slot, weights, why, why_size) != 0) return 1;
  return mine_bind(of(executor)->more, slot, weights, why, why_size);
}
static int set_rows(tare_executor* executor, uint32_t rows, char* why, size_t why_size) {
  return mine_set_rows(of(executor)->more, rows, why, why_size);
}
static int enqueue(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  struct pair* pair = of(executor);
  if (pair->more->problem.rows == 1) return own_kernel()->enqueue(pair->one_row, slot, x, y);
  return in_halves(pair->more, slot, (const bf16*)x, (bf16*)y);
}
static int fence(tare_executor* executor) {
  return own_kernel()->fence(of(executor)->one_row);
}
static int dispatched(tare_executor* executor, tare_dispatch_record* record) {
  return mine_dispatched(of(executor)->more, record);
}
static void destroy(tare_executor* executor) {
  own_kernel()->destroy(of(executor)->one_row);
  mine_destroy(of(executor)->more);
  free(executor);
}
LIAR("order_by_rows", arm.open = open; arm.prepare = prepare; arm.bind = bind;
     arm.set_rows = set_rows; arm.enqueue = enqueue; arm.fence = fence; arm.dispatched = dispatched;
     arm.destroy = destroy)
