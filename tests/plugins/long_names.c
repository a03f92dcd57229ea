/* Lie: a name, a title and a version of 100,000 characters. Named by: nothing; they are cut. */
#include "honest.h"

static char endless[100001];
LIAR("long_names", memset(endless, 'n', sizeof endless - 1); arm.name = endless;
     arm.title = endless; arm.version = endless)
