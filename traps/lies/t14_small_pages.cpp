// T14: huge pages on one side only.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kSmallPages;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"small_pages", {"pages"}};
  liar.plan.copies = 128;
  liar.plan.samples = 256;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kSmallPages{"T14",
                       "small-pages",
                       "huge pages on one side only",
                       "ik_llama.cpp#278 (13 %)",
                       "an arm whose weights lie on 4 KiB pages, on 128 cold copies",
                       "pages",
                       run};

}  // namespace tare::traps
