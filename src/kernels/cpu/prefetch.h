// Where lines go that are asked for before they are read.
#pragma once

namespace tare::kernels {

// As __builtin_prefetch counts it.
enum class Keep { kNowhere = 0, kEveryCache = 3 };

}  // namespace tare::kernels
