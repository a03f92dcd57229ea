#include "chain_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/splitmix.h"
#include "device/accelerator.h"
#include "device/diagnosis.h"
#include "device/machine.h"
#include "judge/judge.h"
#include "prove/compare.h"
#include "prove/proof.h"
#include "proving.h"

namespace tare::app {
namespace {

using weigh::Role;

// Whole copies of the chain's weights at a time: incumbent, control, candidate and the streaming
// read; what packing needs beside them; and room for huge pages: with 4.5, the last ring of 3.9 GB
// was on them by 79 % (of 22 GB to be had), and the gate 'pages' refused the chain.
constexpr double kCopies = 5.5;
// Of the time of a row: a region is a whole token, a hundred times as long as a row's.
constexpr double kTimesARow = 8;

bool is_part_of(const report::Row& row, const weigh::ChainPart& part, const tare_problem& problem) {
  const tare_problem& own = row.weighing.problem;
  return row.weighing.chain.empty() && row.weighing.parts == part.parts &&
         std::tie(own.k, own.n, own.weights, own.activations, own.bias, own.rows) ==
             std::tie(problem.k, problem.n, problem.weights, problem.activations, problem.bias,
                      problem.rows);
}

const report::Row& row_of(std::span<const report::Row> before, const weigh::ChainPart& part,
                          const tare_problem& problem) {
  const auto found = std::ranges::find_if(
      before, [&](const report::Row& row) { return is_part_of(row, part, problem); });
  if (found == before.end() || found->weighing.failure)
    fail(Blame::kArm, "No chain: its part {}x{} was not weighed.", problem.k, problem.n);
  return *found;
}

// Of one arm, as much memory as there is now.
double most_bytes() {
  const auto available = static_cast<double>(device::inspect().available_bytes);
  return device::kMostOfMemory * available / kCopies;
}

void add(arms::PrepareReply& sum, const arms::PrepareReply& more, std::uint64_t slots) {
  const auto count = static_cast<double>(slots);
  sum.plan_seconds += more.plan_seconds + more.bind_seconds_per_slot * count;
  sum.bytes_per_slot += more.bytes_per_slot * slots;
  sum.huge_page_share = more.huge_page_share;  // of the whole process, when the last was ready
}

void add(weigh::RowProof& sum, const weigh::RowProof& more) {
  sum.against = more.against;
  sum.elements += more.elements;
  sum.by_count += more.by_count;
  sum.by_position += more.by_position;
  sum.by_neighbours += more.by_neighbours;
  if (sum.failure.empty()) sum.failure = more.failure;
}

}  // namespace

ChainRun::ChainRun(Bench& bench, const problem::Model& model, ProblemOf problem_of)
    : bench_(bench), model_(model), problem_of_(std::move(problem_of)) {}

report::Row ChainRun::weigh(std::uint32_t rows, std::span<const report::Row> before,
                            Contest contest) {
  rows_ = rows;
  contest_ = contest;
  report::Row row;
  row.model = model_.name;
  row.projection = "chain";
  row.weighing = blank_weighing(bench_, {1, 1, rows, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0});
  try {
    weigh_or_throw(row, before);
  } catch (const Error& error) {
    row.weighing.failure = error.what();
  }
  release_all();
  row.judgement = judge::judge(row.weighing, bench_.header.rules);
  return row;
}

void ChainRun::weigh_or_throw(report::Row& row, std::span<const report::Row> before) {
  // Fresh ones hold no memory of the rows before.
  for (arms::Host* host : bench_.roster.hosts()) host->restart();
  plan_ = plan_chain(model_, problem_of_, most_bytes());
  row.projection = chain_name(plan_);
  if (contest_ == Contest::kApartAgainstFused) row.projection += ", fusing";
  row.weighing.chain = plan_.parts;
  for (weigh::ChainPart& part : row.weighing.chain) part.problem.rows = rows_;
  row.weighing.problem = problem_of_part(plan_.steps.back().part);
  pick(before);
  prepare_all();
  weigh_placements(row, before);
}

void ChainRun::pick(std::span<const report::Row> before) {
  const auto candidate = pick_candidate(before);
  const auto incumbent =
      contest_ == Contest::kApartAgainstFused ? by_parts(candidate) : pick_library(before);
  add_runner(incumbent, Role::kIncumbent);
  add_runner(incumbent, Role::kControl);
  add_runner(candidate, Role::kCandidate);
  for (const bool stream : {true, false})
    if (const auto limits = limit_arms(stream); !limits.empty())
      add_runner(limits, stream ? Role::kStream : Role::kPeak);
}

void ChainRun::add_runner(const std::vector<const arms::RosterArm*>& arms, Role role) {
  auto runner = std::make_unique<Runner>();
  runner->arms = arms;
  runner->seat.arm = arms[plan_.steps.back().part];
  runner->seat.contestant.role = role;
  runners_.push_back(std::move(runner));
}

// An engine uses one library: of those that do all parts the one whose screenings add up to least,
// with its own fastest arm for each part.
std::vector<const arms::RosterArm*> ChainRun::pick_library(
    std::span<const report::Row> before) const {
  struct Library {
    std::vector<const arms::RosterArm*> arms;
    double seconds = 0;
  };
  std::map<const arms::Host*, Library> libraries;
  for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
    const report::Row& row = row_of(before, plan_.parts[part], problem_of_part(part));
    for (const report::Screened& screened : row.screened) {  // fastest first
      if (!(screened.seconds_per_dispatch > 0) || !screened.reason.empty()) continue;
      const arms::RosterArm* arm = arm_named(screened.arm, part);
      if (arm == nullptr) continue;
      Library& library = libraries[arm->host];
      if (library.arms.size() != part) continue;  // it has a faster one, or lacks an earlier part
      library.arms.push_back(arm);
      library.seconds +=
          static_cast<double>(plan_.parts[part].count) * screened.seconds_per_dispatch;
    }
  }
  const Library* fastest = nullptr;
  for (const auto& [host, library] : libraries)
    if (library.arms.size() == plan_.parts.size() &&
        (fastest == nullptr || library.seconds < fastest->seconds))
      fastest = &library;
  if (fastest == nullptr) fail(Blame::kArm, "No chain: no library here does every projection.");
  return fastest->arms;
}

// Of a row's screenings; null where there is none of that name.
const arms::RosterArm* ChainRun::arm_named(const std::string& name, std::size_t part) const {
  for (const arms::RosterArm& arm : bench_.roster.arms()) {
    if (arm.description.name == name) return &arm;
    if (arm.description.name + std::string(arms::kByPartsSuffix) == name)
      return &bench_.roster.by_parts(arm, plan_.parts[part].parts);
  }
  return nullptr;
}

std::vector<const arms::RosterArm*> ChainRun::by_parts(
    std::vector<const arms::RosterArm*> arms) const {
  bool any = false;
  for (std::size_t part = 0; part < arms.size(); ++part) {
    if (plan_.parts[part].parts.empty()) continue;
    arms[part] = &bench_.roster.by_parts(*arms[part], plan_.parts[part].parts);
    any = true;
  }
  if (!any) fail(Blame::kInput, "No chain apart: '{}' has nothing to fuse.", model_.name);
  return arms;
}

std::vector<const arms::RosterArm*> ChainRun::pick_candidate(
    std::span<const report::Row> before) const {
  std::vector<const arms::RosterArm*> picked;
  for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
    const report::Row& row = row_of(before, plan_.parts[part], problem_of_part(part));
    const weigh::Arm* candidate = weigh::arm_of(row.weighing, Role::kCandidate);
    const auto arm = std::ranges::find_if(bench_.roster.arms(), [&](const arms::RosterArm& a) {
      return candidate != nullptr && a.description.name == candidate->name;
    });
    if (arm == bench_.roster.arms().end())
      fail(Blame::kArm, "No chain: a projection has no candidate.");
    picked.push_back(&*arm);
  }
  for (const arms::RosterArm* arm : picked)
    if (arm->host != picked.front()->host)
      fail(Blame::kArm,
           "No chain: its candidates, {} and {}, live in two processes, which nobody would serve.",
           picked.front()->description.title, arm->description.title);
  return picked;
}

// Of the same kind for every part; none where a part has no such limit.
std::vector<const arms::RosterArm*> ChainRun::limit_arms(bool stream) const {
  std::vector<const arms::RosterArm*> picked;
  for (std::size_t part = 0; part < plan_.parts.size(); ++part)
    for (const arms::RosterArm& arm : bench_.roster.arms()) {
      if (arm.part != arms::Part::kLimit || picked.size() > part) continue;
      const bool wanted =
          stream ? arm.description.name == bench_.best_stream : limit_role(arm) == Role::kPeak;
      if (wanted && !arm.host->refusal(arm.index, problem_of_part(part))) picked.push_back(&arm);
    }
  if (picked.size() < plan_.parts.size()) picked.clear();
  return picked;
}

void ChainRun::prepare_all() {
  bench_.progress.step("preparing");
  bench_.stage.set_problem(widest(), bench_.header.seed);
  for (const auto& runner : runners_) prepare(*runner);
}

void ChainRun::prepare(Runner& runner) {
  arms::Host& host = *runner.seat.arm->host;
  const bool peak = runner.seat.contestant.role == Role::kPeak;
  runner.prepared.clear();
  runner.cost = {};
  for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
    const tare_problem problem = problem_of_part(part);
    const std::uint64_t slots = peak ? 1 : plan_.parts[part].count;  // a peak reads no weights
    host.begin_prepare(runner.arms[part]->index, problem, static_cast<std::uint32_t>(slots),
                       {.seed = kWeightSeed + part}, false, runner.arms[part]->parts);
    runner.prepared.push_back(
        host.end_prepare(preparing_patience(problem, slots, bench_.options.patience_seconds)));
    add(runner.cost, runner.prepared.back().cost, slots);
  }
  Seat& seat = runner.seat;
  seat.prepared.executor = host.chain(links_of(runner));
  seat.prepared.cost = runner.cost;
  seat.life = host.life();
  seat.ready = true;
  seat.contestant.host = &host;
  seat.contestant.executor = seat.prepared.executor;
  seat.contestant.slots = 1;
  seat.contestant.chain_output = rows_ * problem_of_part(plan_.steps.back().part).n;
}

std::vector<arms::Link> ChainRun::links_of(const Runner& runner) const {
  const arms::RegionRequest at = bench_.stage.addresses();
  const bool peak = runner.seat.contestant.role == Role::kPeak;
  std::vector<arms::Link> links;
  for (const ChainPlan::Step& step : plan_.steps) {
    const std::uint64_t turn = links.size();
    links.push_back({runner.prepared[step.part].executor, peak ? 0 : step.slot,
                     (turn % at.inputs) * at.input_stride,
                     at.output_offset + (turn % at.outputs) * at.output_stride});
  }
  return links;
}

void ChainRun::release_all() {
  for (const auto& runner : runners_) {
    arms::Host& host = *runner->seat.arm->host;
    if (!host.alive() || !runner->seat.ready || runner->seat.life != host.life()) continue;
    host.discard(runner->seat.prepared.executor);
    for (const arms::Prepared& prepared : runner->prepared) host.discard(prepared.executor);
  }
  runners_.clear();
}

// Every matrix of incumbent and candidate, part by part.
weigh::Proof ChainRun::prove() {
  bench_.progress.step("proving");
  weigh::Proof proof;
  proof.done = true;
  const auto ring_of = [&](Role role, std::size_t part) {
    const Runner& runner =
        **std::ranges::find(runners_, role, [](const auto& r) { return r->seat.contestant.role; });
    weigh::Contestant contestant;
    contestant.role = role;
    contestant.host = runner.seat.arm->host;
    contestant.executor = runner.prepared[part].executor;
    contestant.slots = plan_.parts[part].count;
    const arms::Parts& own = runner.arms[part]->parts;
    contestant.output_parts.assign(own.n, own.n + own.count);
    return contestant;
  };
  for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
    bench_.stage.set_problem(problem_of_part(part), bench_.header.seed);
    Proving proving(bench_.stage, problem_of_part(part), kWeightSeed + part);
    prove::add(proof, proving.prove_ring(ring_of(Role::kIncumbent, part),
                                         ring_of(Role::kCandidate, part), bench_.header.seed));
  }
  bench_.stage.set_problem(widest(), bench_.header.seed);
  for (const auto& runner : runners_)
    if (!weigh::is_limit(runner->seat.contestant.role)) record_digest(*runner);
  return proof;
}

void ChainRun::record_digest(Runner& runner) {
  weigh::Contestant& contestant = runner.seat.contestant;
  arms::RegionRequest request = bench_.stage.addresses();
  request.y_bytes = bench_.stage.kept_output().first(*contestant.chain_output).size_bytes();
  bench_.stage.spoil_outputs();
  contestant.host->region(contestant.executor, request);
  contestant.digests = {prove::digest(bench_.stage.kept_output().first(*contestant.chain_output))};
}

void ChainRun::weigh_placements(report::Row& row, std::span<const report::Row> before) {
  weigh::WeighPlan how;
  how.traffic = bench_.header.traffic;
  how.budget = std::chrono::duration<double>(kTimesARow * bench_.options.seconds_per_row);
  how.mode = bench_.options.mode;
  how.residency = bench_.options.residency;
  how.seed = bench_.header.seed ^ (std::uint64_t{rows_} << 32);
  const auto enough = [&](const weigh::Weighing& so_far) {
    return judge::decided(so_far, bench_.header.rules);
  };
  for (int cures = 0;;) {
    row.weighing.proof = prove();
    for (std::size_t part = 0; part < plan_.parts.size(); ++part)
      add(row.weighing.proof.rows,
          row_of(before, plan_.parts[part], problem_of_part(part)).weighing.proof.rows);
    bench_.progress.step("weighing");
    fill(row.weighing);
    Seats slices(plan_seats(row.weighing.problem, weigh::Residency::kHot, 0, 0));
    prepare_slices(row.weighing, slices, parts());
    std::vector<weigh::Contestant> contestants = contestants_of(parts());
    weigh::weigh(how, bench_.runner, contestants, row.weighing, enough);
    if (row.weighing.failure) return;
    fill(row.weighing);
    const judge::Judgement judgement = judge::judge(row.weighing, bench_.header.rules);
    const judge::Finding* refused = first_failed(judgement);
    if (refused == nullptr && !judgement.unconfirmed) return;
    if (refused != nullptr && (!refused->curable_by_repeating || cures++ == kMostCures)) return;
    if (refused != nullptr) row.weighing.placements.back().set_aside = refused->gate;
    std::set<arms::Host*> hosts;
    for (const auto& runner : runners_)
      if (!weigh::is_limit(runner->seat.contestant.role)) hosts.insert(runner->seat.arm->host);
    for (arms::Host* host : hosts) host->restart();
    for (const auto& runner : runners_)
      if (hosts.contains(runner->seat.arm->host)) prepare(*runner);
    how.fresh_processes = true;
    how.seed += kSplitMixStep;
  }
}

// An arm of a chain is named by what a layer begins with, as its host describes it.
void ChainRun::fill(weigh::Weighing& weighing) const {
  fill_arms(weighing, parts());
  for (std::size_t i = 0; i < weighing.arms.size(); ++i) {
    const arms::ArmDescription& first = runners_[i]->arms[plan_.steps.front().part]->description;
    weighing.arms[i].name = first.name;
    weighing.arms[i].title = first.title;
  }
}

std::vector<Part> ChainRun::parts() const {
  std::vector<Part> parts;
  for (const auto& runner : runners_) parts.push_back({&runner->seat, runner->cost});
  return parts;
}

tare_problem ChainRun::problem_of_part(std::size_t part) const {
  tare_problem problem = plan_.parts[part].problem;
  problem.rows = rows_;
  return problem;
}

// What the stage is laid out for: every x and y of the chain fits.
tare_problem ChainRun::widest() const {
  tare_problem widest = problem_of_part(0);
  for (const weigh::ChainPart& part : plan_.parts) {
    widest.k = std::max(widest.k, part.problem.k);
    widest.n = std::max(widest.n, part.problem.n);
  }
  return widest;
}

}  // namespace tare::app
