#include "base/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace tare {
namespace {

volatile std::sig_atomic_t requested = 0;

void note(int signal) {
  // timeout(1) sends SIGTERM to the program and then to its group: that is one request.
  if (requested != 0 && signal == SIGINT) _exit(130);
  requested = 1;
}

}  // namespace

void watch_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;  // no SA_RESTART: a wait for an arm host must return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() {
  return requested != 0;
}

}  // namespace tare
