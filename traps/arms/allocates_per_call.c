/* Lie: maps, touches and unmaps 4 MB in every dispatch. Named by: the faults gate (page faults). */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "honest.h"

static int allocate(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const size_t bytes = 4 << 20;
  char* scratch =
      (char*)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (scratch == (char*)MAP_FAILED) return 1;
  for (size_t i = 0; i < bytes; i += 4096) ((volatile char*)scratch)[i] = 1;
  munmap(scratch, bytes);
  return mine_enqueue(executor, slot, x, y);
}
LIAR("allocates_per_call", arm.enqueue = allocate)
