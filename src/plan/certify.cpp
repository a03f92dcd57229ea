#include "plan/certify.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/line_reader.h"

namespace tare::plan {
namespace {

using judge::Equality;

bool proves(const prove::Certificate& certificate, Equality equality) {
  switch (equality) {
    case Equality::kIncumbent:
      return prove::proves_incumbent(certificate);
    case Equality::kOneRow:
      return prove::proves_one_row(certificate);
    case Equality::kSelf:
      return prove::proves_self(certificate);
    case Equality::kBounded:
      return prove::proves_bounded(certificate);
  }
  return false;
}

std::string digest_of(const Plan& plan, const std::string& arm) {
  const auto found = std::ranges::find(plan.keys.modules, arm, &Module::arm);
  return found == plan.keys.modules.end() ? "" : found->digest;
}

// Of the same module files, too: what another build of a module was proved to be says nothing.
bool is_of(const prove::Certificate& certificate, const Plan& plan, const Decision& decision) {
  const tare_problem &proved = certificate.problem, &decided = decision.problem;
  const bool same_types = proved.weights == decided.weights &&
                          proved.activations == decided.activations &&
                          proved.output == decided.output &&
                          proved.accumulator == decided.accumulator && proved.bias == decided.bias;
  const bool same_incumbent = certificate.incumbent == decision.incumbent.arm &&
                              certificate.incumbent_hash == digest_of(plan, decision.incumbent.arm);
  return certificate.implementation.name == decision.candidate.arm &&
         certificate.implementation.hash == digest_of(plan, decision.candidate.arm) &&
         proved.k == decided.k && proved.n == decided.n && same_types &&
         std::ranges::find(certificate.rows, decided.rows) != certificate.rows.end() &&
         (decision.equality == Equality::kSelf || same_incumbent);
}

}  // namespace

std::vector<prove::Certificate> read_certificates(const std::filesystem::path& path) {
  report::LineReader lines(path);
  std::vector<prove::Certificate> certificates;
  for (report::FileLine line; lines.next(line);) {
    const nlohmann::json json = nlohmann::json::parse(line.text, nullptr, false);
    const std::string where = fmt::format("'{}', line {}", path.string(), line.number);
    if (!json.is_object())
      fail(Blame::kInput, "{}: not a JSON object: is this a file of tare prove --json?", where);
    if (json.value("kind", "") != "certificate") continue;
    certificates.push_back(prove::certificate_from_json(json, where));
  }
  if (certificates.empty())
    fail(Blame::kInput, "'{}': no certificate in it: is this a file of tare prove --json?",
         path.string());
  return certificates;
}

std::size_t certify(Plan& plan, std::span<const prove::Certificate> certificates) {
  std::size_t certified = 0;
  for (Decision& decision : plan.decisions) {
    const auto found = std::ranges::find_if(
        certificates, [&](const auto& certificate) { return is_of(certificate, plan, decision); });
    if (found == certificates.end()) continue;
    ++certified;
    decision.certificate = prove::to_json(*found);
    if (decision.decision != judge::Decision::kServe || proves(*found, decision.equality)) continue;
    decision.decision = judge::Decision::kTrade;
    decision.reason = fmt::format("its certificate does not prove the equality '{}'",
                                  judge::to_string(decision.equality));
  }
  return certified;
}

}  // namespace tare::plan
