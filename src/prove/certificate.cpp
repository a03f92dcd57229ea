#include "prove/certificate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace tare::prove {
namespace {

bool held(const Certificate& certificate, std::string_view name) {
  return invariance(certificate, name).held == Held::kEqual;
}

// No proof of anything: it ended early, left elements out, or touched what is not its own.
bool sound(const Certificate& certificate) {
  const Manners& manners = certificate.manners;
  return certificate.failure.empty() && manners.dispatches > 0 && manners.unwritten == 0 &&
         manners.wrote_outside.empty() && manners.guard_pages != Held::kDiffer &&
         manners.control_word != Held::kDiffer && !certificate.classes.empty();
}

bool every_class(const Certificate& certificate, bool (*test)(const ClassResult&)) {
  return sound(certificate) && std::ranges::all_of(certificate.classes, test);
}

bool compared(const Certificate& certificate) {
  return !certificate.incumbent.empty();
}

ErrorAgainst64 pooled(const Certificate& certificate, ErrorAgainst64 ClassResult::*which) {
  ErrorAgainst64 sum;
  double squares = 0;
  for (const ClassResult& result : certificate.classes) {
    const ErrorAgainst64& one = result.*which;
    sum.elements += one.elements;
    sum.max = std::max(sum.max, one.max);
    squares += one.rms * one.rms * static_cast<double>(one.elements);
  }
  if (sum.elements > 0) sum.rms = std::sqrt(squares / static_cast<double>(sum.elements));
  return sum;
}

}  // namespace

Certificate blank_certificate() {
  Certificate certificate;
  for (const std::string_view name : kInvariances) {
    Invariance line;
    line.name = name;
    line.why = "not reached";
    certificate.invariances.push_back(line);
  }
  return certificate;
}

const Invariance& invariance(const Certificate& certificate, std::string_view name) {
  const auto found = std::ranges::find(certificate.invariances, name, &Invariance::name);
  if (found == certificate.invariances.end())
    fail(Blame::kInput, "the certificate says nothing of the invariance '{}'", name);
  return *found;
}

Invariance& invariance(Certificate& certificate, std::string_view name) {
  return const_cast<Invariance&>(invariance(std::as_const(certificate), name));
}

bool batch_invariant(const Certificate& certificate) {
  return std::ranges::all_of(kInvariances, [&](std::string_view name) {
    const bool of_batch = name.starts_with("row") || name.ends_with("neighbour");
    return !of_batch || held(certificate, name);
  });
}

bool proves_incumbent(const Certificate& certificate) {
  return compared(certificate) &&
         every_class(certificate, [](const ClassResult& result) { return result.differing == 0; });
}

bool proves_one_row(const Certificate& certificate) {
  return compared(certificate) && every_class(certificate, [](const ClassResult& result) {
           return result.differing_one_row == 0;
         });
}

bool proves_self(const Certificate& certificate) {
  return sound(certificate) && batch_invariant(certificate) && held(certificate, "threads") &&
         held(certificate, "run to run");
}

bool proves_bounded(const Certificate& certificate) {
  return compared(certificate) && every_class(certificate, [](const ClassResult& result) {
           return result.class_mismatch == 0 && result.error.max <= result.incumbent_error.max &&
                  result.error.rms <= result.incumbent_error.rms;
         });
}

ErrorAgainst64 total_error(const Certificate& certificate) {
  return pooled(certificate, &ClassResult::error);
}

ErrorAgainst64 total_incumbent_error(const Certificate& certificate) {
  return pooled(certificate, &ClassResult::incumbent_error);
}

}  // namespace tare::prove
