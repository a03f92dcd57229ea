/* Lie: enqueue and fence are NULL. Named by: the arm host, when it loads the module. */
#include "honest.h"

LIAR("null_functions", arm.enqueue = NULL; arm.fence = NULL)
