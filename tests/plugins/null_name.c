/* Lie: has no name and no title (NULL). Named by: the arm host, when it loads the module. */
#include "honest.h"

LIAR("null_name", arm.name = NULL; arm.title = NULL; arm.version = NULL)
