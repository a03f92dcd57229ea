/* Lie: maps a page of fresh machine code in every dispatch, and keeps it. Named by: the faults gate (new mappings). */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "honest.h"

static int compile(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  /* Every other page stays unmapped, so that the kernel cannot join them into one mapping. */
  char* page = (char*)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == (char*)MAP_FAILED) return 1;
  munmap(page + 4096, 4096);
  memset(page, 0xC3, 4096); /* ret */
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return 1;
  return mine_enqueue(executor, slot, x, y);
}
LIAR("compiles_per_call", arm.enqueue = compile)
