// TRAPS T27: a candidate that silently falls back to the incumbent is an A/A test, not a verdict.
#include <fmt/format.h>

#include <string_view>

#include "judge/gates/gates.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "identity";

// A record is filled by an implementation, which may not have ended its strings.
template <std::size_t Size>
std::string_view text(const char (&field)[Size]) {
  const std::string_view all(field, Size);
  return all.substr(0, all.find('\0'));
}

bool same_kernel(const tare_dispatch_record& a, const tare_dispatch_record& b) {
  return !text(a.kernel).empty() && text(a.kernel) == text(b.kernel) &&
         text(a.library) == text(b.library) && text(a.configuration) == text(b.configuration);
}

}  // namespace

Finding identity(const Evidence& evidence) {
  const weigh::Arm* incumbent = weigh::arm_of(evidence.weighing, Role::kIncumbent);
  const weigh::Arm* candidate = weigh::arm_of(evidence.weighing, Role::kCandidate);
  if (incumbent == nullptr || candidate == nullptr) return passed(kName, 0, 0);
  if (incumbent->name == candidate->name)
    return failed(kName, 1, 0,
                  fmt::format("candidate and incumbent are the same arm, '{}'; name another "
                              "candidate",
                              candidate->name));
  if (same_kernel(incumbent->dispatched, candidate->dispatched))
    return failed(
        kName, 1, 0,
        fmt::format("candidate and incumbent both ran '{}' of {}: the candidate fell back; "
                    "make it run its own kernel at this shape, or leave this row out",
                    text(candidate->dispatched.kernel), text(candidate->dispatched.library)));
  return passed(kName, 0, 0);
}

}  // namespace tare::judge::gates
