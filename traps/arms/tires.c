/* Lie: fresh it is as fast as its twin, and every region takes 1 % longer than the one before. Named by: drift. */
#include "honest.h"
#include "spin.h"

static const double each_fence = 1.005; /* two a region: the opening dispatch has one of its own */
static const double most = 8;
static double begun, tired;

static int prepare_fresh(const tare_problem* problem, uint32_t slots, tare_executor** executor,
                         char* why, size_t why_size) {
  begun = 0;
  tired = 1;
  return mine_prepare(problem, slots, executor, why, why_size);
}
static int begin(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  if (begun == 0) begun = now_seconds();
  return mine_enqueue(executor, slot, x, y);
}
static int end(tare_executor* executor) {
  const double now = now_seconds();
  if (begun > 0) spin_until(now + (tired - 1) * (now - begun));
  if (tired < most) tired *= each_fence;
  begun = 0;
  return mine_fence(executor);
}
LIAR("tires", arm.prepare = prepare_fresh; arm.enqueue = begin; arm.fence = end)
