/* Honest: the example plugin under another name. Named by: nothing; the control of this folder. */
#include "honest.h"

LIAR("honest", (void)0)
