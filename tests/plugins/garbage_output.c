/* Lie: prints garbage on stdout and stderr, in every call. Named by: nothing; the table must stay clean. */
#include "honest.h"

static void babble(void) {
  static const char noise[] = "\033[31mmodel  projection  win  serve\n{\"row\":1}\n\xff\xfe\r";
  fwrite(noise, 1, sizeof noise, stdout); /* its NUL, too */
  fwrite(noise, 1, sizeof noise, stderr);
  fflush(stdout);
}
static int loud_open(const tare_services* offered, char* why, size_t why_size) {
  babble();
  return mine_open(offered, why, why_size);
}
static int loud_enqueue(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  babble();
  return mine_enqueue(executor, slot, x, y);
}
LIAR("garbage_output", arm.open = loud_open; arm.enqueue = loud_enqueue)
