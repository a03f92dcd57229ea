// What no weighing can have recorded, although every field has the right type: a file that was
// edited or damaged, or an arm that lied about the clock.
#pragma once

#include <string>
#include <vector>

#include "weigh/weighing.h"

namespace tare::report {

// One sentence for each kind of thing that cannot be, with the first of its kind; what the judge
// does with it is said, too. Empty for an honest weighing.
std::vector<std::string> implausibilities(const weigh::Weighing& weighing);

}  // namespace tare::report
