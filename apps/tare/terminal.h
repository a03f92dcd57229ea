// What the two output streams can show.
#pragma once

namespace tare::app {

bool colours_on_stdout();   // a terminal, and NO_COLOR is not set
bool progress_on_stderr();  // a terminal

}  // namespace tare::app
