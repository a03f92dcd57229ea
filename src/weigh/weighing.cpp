#include "weigh/weighing.h"

namespace tare::weigh {
namespace {

double bytes_of(std::uint32_t type) {
  return type == TARE_F32 ? 4 : 2;
}

}  // namespace

// In double from the start: k * n of a hostile shape overflows 64 bits.
double weight_bytes(const tare_problem& problem) {
  return static_cast<double>(problem.k) * static_cast<double>(problem.n) *
         bytes_of(problem.weights);
}

double operations(const tare_problem& problem) {
  return 2.0 * static_cast<double>(problem.k) * static_cast<double>(problem.n) *
         static_cast<double>(problem.rows);
}

const char* to_string(Role role) {
  switch (role) {
    case Role::kIncumbent:
      return "incumbent";
    case Role::kControl:
      return "control";
    case Role::kCandidate:
      return "candidate";
    case Role::kStream:
      return "stream";
    case Role::kPeak:
      return "peak";
  }
  return "unknown";
}

}  // namespace tare::weigh
