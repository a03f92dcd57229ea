/* tare/plan.h: what an engine asks of a plan that `tare plan` wrote (docs/plan.md).
 *
 *   tare_plan* plan = tare_plan_open("plan.json", why, sizeof why);
 *   if (plan == NULL || tare_plan_holds(plan, &engine, why, sizeof why) != 0)  -> serve nothing,
 * say why if (tare_plan_serves(plan, &engine, &problem, NULL, why, sizeof why) == 0)   -> run the
 * candidate tare_plan_close(plan);
 *
 * Everything that a plan does not serve in so many words stays with the engine's own kernel.
 * Functions that return int return 0 for yes; otherwise they write a sentence for a person into
 * `why` (at most why_size bytes, NUL included; it may be NULL). No exception crosses. A plan never
 * changes once it is open: its functions may be called from several threads at once.
 *
 * Link libtare_plan.so.
 */
#ifndef TARE_PLAN_H
#define TARE_PLAN_H

#include "tare/arm.h"

/* NOLINTBEGIN(modernize-use-using): this is C. */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct tare_plan tare_plan;

/* What an engine is. Strings are the caller's, and are read during the call only. */
typedef struct tare_plan_engine {
  /* The arm that stands for the engine's own kernels in a plan, and its title now: "ggml", "ggml
   * 0.25.3". */
  const char* arm;
  const char* title;
  /* The library of the candidates that this engine can run, as their dispatch record names it:
   * "Tare 0.1.0 (kernels 0123456789abcdef)". A decision for another one is not served. */
  const char* kernels;
  /* The GPU it runs on, as a plan names it: "NVIDIA H200, driver 590.48.01". NULL or "": the
   * processor. */
  const char* accelerator;
} tare_plan_engine;

typedef struct tare_plan_decision {
  double ratio, low, high; /* engine's time over candidate's, with its interval */
  /* Both good until the plan is closed. */
  const char* equality;  /* "incumbent", "one-row", "self", "bounded" */
  const char* candidate; /* the arm that was weighed and is to run: "tare-panel-ggml" */
} tare_plan_decision;

/* NULL when there is no such file, or it is no whole, unchanged plan of a schema that is known. */
TARE_EXPORT tare_plan* tare_plan_open(const char* path, char* why, size_t why_size);
TARE_EXPORT void tare_plan_close(tare_plan* plan);

/* Whether the plan holds on this machine (processor, instruction sets, processors that this process
 * may use) and for this engine. Takes milliseconds: it looks at the machine. */
TARE_EXPORT int tare_plan_holds(const tare_plan* plan, const tare_plan_engine* engine, char* why,
                                size_t why_size);

/* How many threads it was made with. With another number nothing was measured: serve nothing. */
TARE_EXPORT uint32_t tare_plan_threads(const tare_plan* plan);

/* Whether the candidate is to run for this very shape, types and row count in this engine.
 * `decision` may be NULL. */
TARE_EXPORT int tare_plan_serves(const tare_plan* plan, const tare_plan_engine* engine,
                                 const tare_problem* problem, tare_plan_decision* decision,
                                 char* why, size_t why_size);

/* The row counts for which it is to run, ascending: writes at most `most` of them into `rows`, and
 * returns how many there are. The problem's own rows do not matter. */
TARE_EXPORT size_t tare_plan_rows(const tare_plan* plan, const tare_plan_engine* engine,
                                  const tare_problem* problem, uint32_t* rows, size_t most);

/* Whether it is for some row count: what to ask where a matrix is put in place. The problem's own
 * rows do not matter. */
TARE_EXPORT int tare_plan_serves_some_rows(const tare_plan* plan, const tare_plan_engine* engine,
                                           const tare_problem* problem);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-use-using) */
#endif /* TARE_PLAN_H */
