/* Lie: keeps its weights on 4 KiB pages, whatever the other arms have. Named by: the pages gate. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "honest.h"

/* In front of every block, its size. */
static void* allocate(size_t bytes) {
  const size_t whole = bytes + 4096;
  char* memory =
      (char*)mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == (char*)MAP_FAILED) return NULL;
  madvise(memory, whole, MADV_NOHUGEPAGE);
  *(size_t*)(void*)memory = whole;
  return memory + 4096;
}
static void release(void* memory) {
  char* start = (char*)memory - 4096;
  munmap(start, *(size_t*)(void*)start);
}
static int open(const tare_services* offered, char* why, size_t why_size) {
  static tare_services own;
  own = *offered;
  own.allocate = allocate;
  own.release = release;
  return mine_open(&own, why, why_size);
}
LIAR("small_pages", arm.open = open)
