// How short a time can be told from nothing.
#pragma once

namespace tare::weigh {

// Seconds that an empty region takes, timed as regions are timed: the 99th percentile of a few
// thousand.
double timer_floor_seconds();

}  // namespace tare::weigh
