#include "prover.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "arms/region.h"
#include "base/error.h"
#include "isa_settings.h"
#include "program.h"
#include "prove/compare.h"
#include "report/text.h"

namespace tare::app {
namespace {

namespace fs = std::filesystem;

// 1, 2, ... and all but the most; of many threads powers of two.
std::vector<std::uint32_t> fewer_threads(std::uint32_t most) {
  constexpr std::uint32_t kFew = 8;
  std::vector<std::uint32_t> counts;
  for (std::uint32_t count = 1; count < most; count = most <= kFew ? count + 1 : 2 * count)
    counts.push_back(count);
  if (most > kFew && counts.back() != most - 1) counts.push_back(most - 1);
  return counts;
}

std::string threads_text(std::uint32_t count) {
  return count == 1 ? "1 thread" : fmt::format("{} threads", count);
}

// Row counts at which the same kernel ran become one entry.
std::vector<prove::Ran> grouped(const std::map<std::uint32_t, tare_dispatch_record>& records) {
  std::vector<prove::Ran> all;
  for (const auto& [rows, record] : records) {
    prove::Ran one{{rows},
                   report::field_text(record.kernel),
                   report::field_text(record.isa),
                   report::field_text(record.configuration),
                   record.threads};
    const auto same = std::ranges::find_if(all, [&](const prove::Ran& ran) {
      return ran.kernel == one.kernel && ran.isa == one.isa &&
             ran.configuration == one.configuration && ran.threads == one.threads;
    });
    if (same == all.end())
      all.push_back(one);
    else
      same->rows.push_back(rows);
  }
  return all;
}

// Threads aside: fewer of them run the same kernel.
bool same_kernels(const std::vector<prove::Ran>& a, const std::vector<prove::Ran>& b) {
  return std::ranges::equal(a, b, [](const prove::Ran& one, const prove::Ran& other) {
    return std::tie(one.rows, one.kernel, one.isa) == std::tie(other.rows, other.kernel, other.isa);
  });
}

void add_host(const ProbedHost& host, prove::Certificate& certificate) {
  if (certificate.manners.wrote_outside.empty()) certificate.manners.wrote_outside = host.breach();
}

}  // namespace

Prover::Prover(const ProofBench& bench, const prove::MatrixPlan& plan)
    : bench_(bench), plan_(plan), drawn_(prove::draw_all(plan)) {}

std::optional<std::string> Prover::refusal(const arms::RosterArm& arm) const {
  for (const std::uint32_t rows : plan_.rows) {
    tare_problem problem = plan_.problem;
    problem.rows = rows;
    if (auto why = arm.host->refusal(arm.index, problem)) return why;
  }
  return std::nullopt;
}

prove::Certificate Prover::prove(const arms::RosterArm& arm, const arms::RosterArm* incumbent) {
  prove::Certificate certificate = prove::blank_certificate();
  describe(arm, incumbent, certificate);
  try {
    prove_or_throw(arm, incumbent, certificate);
    if (certificate.manners.control_word == prove::Held::kNotTried)
      certificate.manners.control_word = prove::Held::kEqual;
  } catch (const arms::ControlWordChanged& error) {
    certificate.manners.control_word = prove::Held::kDiffer;
    certificate.manners.control_word_why = certificate.failure = report::valid_utf8(error.what());
  } catch (const Error& error) {
    certificate.failure = report::valid_utf8(error.what());
  }
  return certificate;
}

void Prover::describe(const arms::RosterArm& arm, const arms::RosterArm* incumbent,
                      prove::Certificate& certificate) const {
  certificate.tare = TARE_VERSION;
  certificate.processor = bench_.accelerator ? bench_.accelerator->name : bench_.machine.processor;
  certificate.problem = plan_.problem;
  certificate.problem.rows = plan_.rows.back();
  certificate.rows = plan_.rows;
  certificate.seed = plan_.seed;
  prove::Implementation& made = certificate.implementation;
  made.name = report::valid_utf8(arm.description.name);
  made.title = report::valid_utf8(arm.description.title);
  made.module = report::valid_utf8(fs::path(arm.host->module_path()).filename().string());
  made.hash = prove::digest_of_file(arm.host->module_path());
  if (incumbent == nullptr) return;
  certificate.incumbent = report::valid_utf8(incumbent->description.name);
  certificate.incumbent_title = report::valid_utf8(incumbent->description.title);
  certificate.incumbent_hash = prove::digest_of_file(incumbent->host->module_path());
}

void Prover::prove_or_throw(const arms::RosterArm& arm, const arms::RosterArm* incumbent,
                            prove::Certificate& certificate) {
  ProbedHost base(probed(arm), bench_.stage);
  const prove::Compute compute = base.compute();
  const prove::Recorded own = prove::record(plan_, drawn_, compute, certificate);
  certificate.implementation.ran = grouped(base.ran());
  certificate.implementation.library = report::field_text(base.ran().begin()->second.library);
  prove::prove_batch(plan_, drawn_, compute, own, certificate);
  add_host(base, certificate);
  prove_circumstance(probed(arm), own, "run to run", "prepared anew in a fresh process",
                     certificate);
  prove_threads(arm, own, certificate);
  prove_isas(arm, own, certificate);
  ProbedArm guarded = probed(arm);
  guarded.guarded = true;
  ProbedHost between(guarded, bench_.stage);
  prove::prove_guard_pages(plan_, drawn_, between.compute(), own, certificate);
  if (incumbent != nullptr)
    prove::compare_with_incumbent(drawn_, own, incumbent_outputs(*incumbent), plan_.problem.n,
                                  certificate);
}

void Prover::prove_threads(const arms::RosterArm& arm, const prove::Recorded& own,
                           prove::Certificate& certificate) {
  const std::uint32_t all = bench_.machine.threads;
  if (all < 2) prove::note_untried("threads", "one thread is all there is", certificate);
  // Work on a device is started by one thread, whatever there are: one look shows that.
  const auto counts =
      bench_.accelerator && all > 1 ? std::vector<std::uint32_t>{1} : fewer_threads(all);
  for (const std::uint32_t count : counts) {
    ProbedArm fewer = probed(arm);
    fewer.threads = count;
    prove_circumstance(fewer, own, "threads", threads_text(count) + " for " + threads_text(all),
                       certificate);
  }
}

void Prover::prove_isas(const arms::RosterArm& arm, const prove::Recorded& own,
                        prove::Certificate& certificate) {
  const auto settings =
      arm.plugin ? std::vector<IsaSetting>{} : isa_settings(arm.module, bench_.machine.isa);
  if (settings.empty())
    prove::note_untried("ISA",
                        arm.plugin ? "no way is known to make it choose another"
                                   : "it was compiled for one, or chooses by itself",
                        certificate);
  bool another = false;
  for (const IsaSetting& setting : settings) {
    ProbedArm other = probed(arm);
    other.environment = setting.environment;
    another |= prove_circumstance(other, own, "ISA", setting.name, certificate);
  }
  // Nothing is proved by a comparison with itself (TRAPS C6).
  prove::Invariance& line = prove::invariance(certificate, "ISA");
  if (line.held == prove::Held::kEqual && !another)
    line = {.name = line.name, .why = "it runs the same kernel at every setting"};
}

// A circumstance in which the arm does not compute the problem is none in which its bits differ.
// Returns whether another kernel ran than usual.
bool Prover::prove_circumstance(const ProbedArm& probed, const prove::Recorded& own,
                                std::string_view line, std::string setting,
                                prove::Certificate& certificate) {
  ProbedHost host(probed, bench_.stage);
  if (const auto why = host.refusal(plan_.rows.back())) {
    prove::note_untried(line, fmt::format("{}: refused", setting), certificate);
    return false;
  }
  prove::prove_setting(plan_, drawn_, host.compute(), own, line, setting, certificate);
  add_host(host, certificate);
  return !same_kernels(grouped(host.ran()), certificate.implementation.ran);
}

const prove::Recorded& Prover::incumbent_outputs(const arms::RosterArm& incumbent) {
  const auto found = recorded_.find(incumbent.description.name);
  if (found != recorded_.end()) return found->second;
  ProbedHost host(probed(incumbent), bench_.stage);
  prove::Certificate unused = prove::blank_certificate();
  return recorded_[incumbent.description.name] =
             prove::record(plan_, drawn_, host.compute(), unused);
}

ProbedArm Prover::probed(const arms::RosterArm& arm) const {
  ProbedArm probed;
  probed.executable = executable_path();
  probed.module_path = arm.host->module_path();
  probed.index = arm.index;
  probed.threads = bench_.machine.threads;
  probed.patience = bench_.patience;
  probed.problem = plan_.problem;
  probed.weight_seed = plan_.seed;
  if (plan_.model != nullptr) probed.model = plan_.model->source();
  return probed;
}

}  // namespace tare::app
