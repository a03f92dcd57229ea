// ^C: noticed between and inside regions, so that what was measured is kept.
#pragma once

#include <exception>

namespace tare {

// Thrown where work stops because the user asked for it. Not a tare::Error: nobody is to blame.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// From now on SIGINT and SIGTERM are noted instead of ending the process; another SIGINT ends it at
// once. A signal flag has to be global: a handler is given nothing else.
void watch_for_interrupts();
bool interrupt_requested();

}  // namespace tare
