/* Lie: overwrites the machine code of clock_gettime, so that its host sees half the time pass. Named by: the clocks gate. (x86-64; honest elsewhere.) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "honest.h"

#ifdef __x86_64__
static int half_speed(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  const uint64_t half = ((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec) / 2;
  time->tv_sec = (time_t)(half / 1000000000u);
  time->tv_nsec = (long)(half % 1000000000u);
  return result;
}

/* movabs rax, half_speed; jmp rax */
static void patch(void) {
  unsigned char jump[12] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
  const uintptr_t target = (uintptr_t)half_speed;
  memcpy(jump + 2, &target, sizeof target);
  char* code = (char*)dlsym(RTLD_DEFAULT, "clock_gettime");
  const uintptr_t page = (uintptr_t)code & ~(uintptr_t)4095;
  if (mprotect((void*)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  memcpy(code, jump, sizeof jump);
}
#else
static void patch(void) {}
#endif
static int tamper(const tare_services* offered, char* why, size_t why_size) {
  patch();
  return mine_open(offered, why, why_size);
}
LIAR("patched_clock", arm.open = tamper)
