// T32: every call gets the same token, and the state never advances.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kSameToken;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"same_token", {"precision", "limit"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kSameToken{"T32",
                      "same-token",
                      "every call gets the same token, and the state never advances",
                      "sglang#38398 (21 %)",
                      "an arm that remembers results by the addresses of weights and x",
                      "precision, limit",
                      run};

}  // namespace tare::traps
