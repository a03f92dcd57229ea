/* Lie: built for another version of the ABI. Named by: the arm host, when it loads the module. */
#include "honest.h"

LIAR("other_abi", arm.abi = TARE_ARM_ABI + 98)
