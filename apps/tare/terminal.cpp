#include "terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tare::app {

bool colours_on_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  return isatty(STDOUT_FILENO) != 0 &&
         (no_colour == nullptr || std::string_view(no_colour).empty());
}

bool progress_on_stderr() {
  return isatty(STDERR_FILENO) != 0;
}

}  // namespace tare::app
