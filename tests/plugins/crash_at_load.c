/* Lie: crashes in a constructor, while it is loaded. Named by: the arm host, "load". */
#include "honest.h"

__attribute__((constructor)) static void crash(void) {
  segfault();
}
LIAR("crash_at_load", (void)0)
