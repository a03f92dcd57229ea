// C4: a write past the end of the output.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kOutOfBounds;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"writes_past_end", {"output"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kOutOfBounds{"C4",
                        "out-of-bounds",
                        "a write past the end of the output",
                        "AiDotNet#993; oneDNN#5723",
                        "an arm that writes 32 bytes too many",
                        "output",
                        run};

}  // namespace tare::traps
