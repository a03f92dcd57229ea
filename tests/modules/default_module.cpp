#include "tests/modules/drive.h"

namespace tare::tests {

const char* default_module() {
  return TARE_MODULE_DEFAULT;
}

}  // namespace tare::tests
