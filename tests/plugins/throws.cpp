/* Lie: a C++ exception leaves enqueue. Named by: the arm host, "enqueue". */
#include <stdexcept>

#include "honest.h"

static int throw_it(tare_executor*, uint32_t, const void*, void*) {
  throw std::runtime_error("an exception crossed the C ABI");
}
LIAR("throws", arm.enqueue = throw_it)
