/* Honest: cannot be opened on this machine, and says why. Named by: the row, with that reason. */
#include "honest.h"

static int no(const tare_services* offered, char* why, size_t why_size) {
  (void)offered;
  return refuse(why, why_size, "needs a processor with a quantum unit");
}
LIAR("refuses_open", arm.open = no)
