/* Honest: built for version 1 of the ABI, which knew no bias. Named by: the row, where the problem
 * has one. */
#include "honest.h"

static int first_open(const tare_services* offered, char* why, size_t why_size) {
  if (offered->abi != 1u) return refuse(why, why_size, "speaks version 1 only");
  services = offered;
  return 0;
}

static int forgetful_supports(const tare_problem* problem, char* why, size_t why_size) {
  tare_problem without = *problem;
  without.bias = 0; /* what it was not built to see */
  return mine_supports(&without, why, why_size);
}

LIAR("older_abi", arm.abi = 1u; arm.open = first_open; arm.supports = forgetful_supports)
