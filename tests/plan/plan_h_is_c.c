/* include/tare/plan.h is C: an engine in C includes it. Compiled, and nothing more. */
#include "tare/plan.h"

int serves_nothing(const tare_plan_engine* engine, const tare_problem* problem);
int serves_nothing(const tare_plan_engine* engine, const tare_problem* problem) {
  char why[128];
  tare_plan* plan = tare_plan_open("plan.json", why, sizeof why);
  const int no = plan == NULL || tare_plan_holds(plan, engine, why, sizeof why) != 0 ||
                 tare_plan_serves(plan, engine, problem, NULL, why, sizeof why) != 0;
  tare_plan_close(plan);
  return no;
}
