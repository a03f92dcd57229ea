/* Lie: terminal escapes, newlines and broken UTF-8 in name, title and record. Named by: nothing; print and JSON stay clean. */
#include "honest.h"

static int paint(tare_executor* executor, tare_dispatch_record* record) {
  const int result = mine_dispatched(executor, record);
  strcpy(record->kernel, "\033[2J\"kernel\"\n\t\xff\xc0\x80");
  strcpy(record->library, "\xf5\x90 \\ \r\x01");
  return result;
}
LIAR("unprintable_record", arm.name = "un\nprint\033[31mable\xff"; arm.title = "\033[31mred\xff\n";
     arm.dispatched = paint)
