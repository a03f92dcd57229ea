#include "calibration_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/splitmix.h"
#include "bench.h"
#include "headroom.h"
#include "judge/evidence.h"
#include "problem/problem.h"
#include "program.h"
#include "proving.h"
#include "weigh/timer_floor.h"

namespace tare::app {
namespace {

using judge::Moment;
using judge::Trial;
using judge::Verdict;
using weigh::Role;
using Clock = std::chrono::steady_clock;

constexpr double kOneLengthTraffic = 1;  // bytes: one dispatch a region

// Seconds spent in the regions that a verdict is read from.
double round_seconds(const weigh::Weighing& weighing) {
  double sum = 0;
  for (const weigh::Region& region : weighing.regions)
    if (region.purpose == weigh::Purpose::kRound && !weigh::is_limit(region.arm))
      sum += region.seconds;
  return sum;
}

// Looks on as a placement is weighed: when did the rule for rows decide, and when was it known
// which arm is faster?
class Watcher {
 public:
  Watcher(Goal goal, const judge::Rules& rules) : goal_(goal), rules_(rules), direction_(rules) {
    direction_.equivalence = 0;
  }

  bool enough(const weigh::Weighing& whole) {
    if (goal_ == Goal::kOneLength) return true;
    const weigh::Weighing so_far =
        weigh::of_placement(whole, static_cast<std::uint32_t>(whole.placements.size() - 1));
    if (!decided_.reached && judge::verdict_so_far(so_far, rules_) != Verdict::kInconclusive) {
      decided_ = now(so_far);
      regions_ = whole.regions.size();
    }
    if (!seen_.reached) look_for_direction(so_far);
    if (goal_ == Goal::kWatch) return false;
    return decided_.reached && (goal_ == Goal::kDecide || seen_.reached);
  }

  // Leaves what had been weighed when a row would have ended.
  void cut(weigh::Weighing& whole) const {
    if (decided_.reached && goal_ != Goal::kWatch) whole.regions.resize(regions_);
  }

  // The direction is what one game says; a verdict takes all placements.
  void tell(Trial& trial, bool first) const {
    trial.watched = goal_ == Goal::kWatch;
    if (first) {
      trial.seen = seen_;
      trial.seen_direction = seen_direction_;
      trial.decided = decided_;
      return;
    }
    trial.decided.reached &= decided_.reached;
    trial.decided.region_seconds += decided_.region_seconds;
    trial.decided.wall_seconds += decided_.wall_seconds;
  }

 private:
  void look_for_direction(const weigh::Weighing& so_far) {
    const Verdict found = judge::verdict_so_far(so_far, direction_);
    if (found == Verdict::kInconclusive) return;
    seen_ = now(so_far);
    seen_direction_ = found;
  }

  Moment now(const weigh::Weighing& so_far) const {
    return {true, round_seconds(so_far),
            std::chrono::duration<double>(Clock::now() - start_).count()};
  }

  Goal goal_;
  judge::Rules rules_, direction_;  // without an equivalence region a verdict is a direction
  Clock::time_point start_ = Clock::now();
  Moment decided_, seen_;
  Verdict seen_direction_ = Verdict::kInconclusive;
  std::size_t regions_ = 0;
};

judge::Rules rules_of(const Experiment& experiment) {
  judge::Rules rules;
  rules.dispatch_costs_by_slice = true;
  if (experiment.goal == Goal::kDecide || experiment.goal == Goal::kSee) {
    rules.verdict_placements = kVerdictPlacements;
    // Of an arm against itself a draw is right: found again it would be no more so, and fresh
    // processes take ten times as long as a run.
    rules.equivalence_placements = experiment.incumbent == nullptr ? 1 : kVerdictPlacements;
    rules.most_placements = kMostPlacements;
  }
  return rules;
}

planted::Spent spent_by(const weigh::Weighing& weighing, Role role) {
  const weigh::Arm* arm = weigh::arm_of(weighing, role);
  const auto spent = planted::parse_spent(arm->dispatched.configuration);
  if (!spent)
    fail(Blame::kArm, "'{}' does not say what it spent: build Tare again, all of it.", arm->name);
  return *spent;
}

// One arm against itself: nothing is planted, and the ratio is 1.
void tell_equal(Trial& trial) {
  trial.equal_arms = true;
  trial.direction = Verdict::kEquivalent;
  trial.true_ratio = trial.true_byte_ratio = 1;
}

bool has_spells(const Experiment& experiment) {
  return experiment.incumbent->spell != planted::Spell::kAlways ||
         experiment.candidate->spell != planted::Spell::kAlways;
}

void tell_truth(const Experiment& experiment, const weigh::Weighing& weighing, Trial& trial) {
  if (experiment.incumbent == nullptr) return tell_equal(trial);
  const planted::Spent incumbent = spent_by(weighing, Role::kIncumbent);
  const planted::Spent candidate = spent_by(weighing, Role::kCandidate);
  trial.planted_region_seconds = candidate.region_seconds - incumbent.region_seconds;
  trial.planted_dispatch_seconds = candidate.dispatch_seconds - incumbent.dispatch_seconds;
  // What was asked for says which is slower; what was really spent, by how much.
  const planted::Plant &of_incumbent = *experiment.incumbent, &of_candidate = *experiment.candidate;
  const double longer = of_candidate.dispatch_seconds - of_incumbent.dispatch_seconds;
  const double slower = of_candidate.share - of_incumbent.share + longer;
  trial.direction = slower > 0 ? Verdict::kLoss : slower < 0 ? Verdict::kWin : Verdict::kEquivalent;
  trial.equal_arms = slower == 0 && of_candidate.region_seconds == of_incumbent.region_seconds;
  trial.identifiable = experiment.goal != Goal::kOneLength;
  if (has_spells(experiment)) return;
  trial.true_byte_ratio = (1 + incumbent.share) / (1 + candidate.share);
  if (longer == 0) trial.true_ratio = trial.true_byte_ratio;
}

void tell_costs(const judge::Judgement& judgement, Trial& trial) {
  const auto incumbent = judgement.fits.find(Role::kIncumbent);
  const auto candidate = judgement.fits.find(Role::kCandidate);
  if (incumbent == judgement.fits.end() || candidate == judgement.fits.end()) return;
  const judge::Fit &a = incumbent->second, &b = candidate->second;
  trial.region_known = a.identifiable && b.identifiable;
  trial.dispatch_known = a.split_identifiable && b.split_identifiable;
  if (trial.region_known) trial.region_seconds = b.per_region - a.per_region;
  if (!trial.dispatch_known) return;
  trial.dispatch_seconds = b.dispatch_cost - a.dispatch_cost;
  if (b.seconds_per_byte > 0) trial.byte_ratio = a.seconds_per_byte / b.seconds_per_byte;
}

void tell_judgement(const judge::Judgement& judgement, Trial& trial) {
  trial.verdict = judgement.verdict;
  trial.cause = judgement.cause;
  trial.dispatch_win = judgement.dispatch_win;
  trial.ratio = judgement.ratio;
  trial.interval = judgement.interval;
  trial.verdict_interval = judgement.verdict_interval;
  trial.control_ratio = judgement.control_ratio;
  trial.mean_ratio = judgement.mean_ratio;
  trial.tail_ratio = judgement.tail_ratio;
  trial.blocks = judgement.blocks;
  trial.placements = judgement.placements;
  tell_costs(judgement, trial);
}

arms::HostOptions host_options(const weigh::Stage& stage, const CalibrationSetting& setting) {
  const std::string module = setting.equal ? setting.equal->module : "planted";
  arms::HostOptions options;
  options.executable = executable_path();
  options.module_path =
      (std::filesystem::path(arms::module_folder_of(options.executable)) / (module + ".so"))
          .string();
  options.threads = setting.threads;
  options.inputs = &stage.inputs_memory();
  options.outputs = &stage.outputs_memory();
  return options;
}

}  // namespace

std::string name_of(const CalibrationSetting& setting) {
  const bool cuda = setting.equal && setting.equal->where == arms::Where::kCuda;
  return fmt::format("{}, {}{}", setting.residency == weigh::Residency::kCold ? "cold" : "hot",
                     device::to_string(setting.neighbour), cuda ? ", cuda" : "");
}

CalibrationBench::CalibrationBench(const CalibrationSetting& setting)
    : setting_(setting),
      problem_(problem::bf16_problem({"", setting.k, setting.n, 1, ""}, 1)),
      stage_(std::array{problem_}),
      neighbour_(setting.neighbour),
      incumbent_host_(std::make_unique<arms::Host>(host_options(stage_, setting))),
      candidate_host_(std::make_unique<arms::Host>(host_options(stage_, setting))),
      hosts_{incumbent_host_.get(), candidate_host_.get()},
      runner_(stage_, hosts_) {
  // Regions on a device as `tare headroom` has them by default: a graph, programmatic launch
  // offered.
  stage_.set_device_flags(TARE_REGION_PROGRAMMATIC);
}

arms::RosterArm CalibrationBench::arm_of(arms::Host& host, const planted::Plant* plant) const {
  const std::string name = plant != nullptr ? plant->name : setting_.equal->name;
  for (std::uint32_t i = 0; i < host.arms().size(); ++i)
    if (host.arms()[i].name == name)
      return {"", host.module_path(), &host, i, host.arms()[i], arms::Part::kCandidate, false};
  fail(Blame::kMachine, "{} has no arm '{}': build Tare again, all of it.", host.module_path(),
       name);
}

void CalibrationBench::prepare(const Experiment& experiment, std::uint64_t seed) {
  seats_.reset();
  for (arms::Host* host : hosts_) host->restart();
  stage_.set_problem(problem_, seed);
  incumbent_arm_ = arm_of(*incumbent_host_, experiment.incumbent);
  candidate_arm_ = arm_of(*candidate_host_, experiment.candidate);
  seats_ = std::make_unique<Seats>(
      plan_seats(problem_, setting_.residency, setting_.ring_bytes, setting_.cache_bytes));
  parts_ = {{seats_->seat(incumbent_arm_, RingSize::kFull, Role::kIncumbent), {}},
            {seats_->seat(incumbent_arm_, RingSize::kFull, Role::kControl), {}},
            {seats_->seat(candidate_arm_, RingSize::kFull, Role::kCandidate), {}}};
  seats_->prepare(seats_of(parts_));
  prepared_ = {};
  prepared_.problem = problem_;
  prepared_.residency = setting_.residency;
  prepared_.threads = setting_.threads;
  prepared_.last_level_cache_bytes = setting_.cache_bytes;
  prepared_.timer_floor_seconds = weigh::timer_floor_seconds();
  Proving proving(stage_, problem_, kWeightSeed);
  for (const Part& part : parts_) {
    if (!part.seat->failure.empty()) fail(Blame::kArm, "{}", part.seat->failure);
    proving.record_digests(part.seat->contestant);
  }
  prepared_.proof = proving.prove(parts_[0].seat->contestant, parts_[2].seat->contestant, seed);
  if (experiment.goal != Goal::kOneLength) prepare_slices(prepared_, *seats_, parts_);
  fill(prepared_);
}

// An arm against itself is what is tried here: the identity gate, which would refuse it, is told of
// two.
void CalibrationBench::fill(weigh::Weighing& weighing) const {
  fill_arms(weighing, parts_);
  if (!setting_.equal) return;
  for (weigh::Arm& arm : weighing.arms) {
    if (arm.role != Role::kCandidate) continue;
    arm.name += " again";
    std::fill(std::begin(arm.dispatched.kernel), std::end(arm.dispatched.kernel), '\0');
  }
}

weigh::WeighPlan CalibrationBench::plan(const Experiment& experiment, std::uint64_t seed) const {
  weigh::WeighPlan plan;
  plan.traffic = experiment.goal == Goal::kOneLength ? kOneLengthTraffic : setting_.traffic;
  plan.budget = std::chrono::duration<double>(setting_.seconds);
  plan.residency = setting_.residency;
  plan.seed = seed;
  if (setting_.equal && setting_.equal->where == arms::Where::kCuda)
    plan.most_region_seconds = kMostDeviceRegion;
  return plan;
}

// Whether a row would be weighed once more.
bool CalibrationBench::again(const Experiment& experiment, const judge::Judgement& judgement,
                             weigh::Weighing& weighing, int& cures) const {
  if (experiment.goal == Goal::kOneLength || experiment.goal == Goal::kWatch) return false;
  const judge::Finding* refused = first_failed(judgement);
  if (refused == nullptr)
    return judgement.unconfirmed || judgement.placements < setting_.placements;
  if (!refused->curable_by_repeating || cures++ == kMostCures) return false;
  weighing.placements.back().set_aside = refused->gate;
  return true;
}

Trial CalibrationBench::run(const Experiment& experiment, std::uint64_t seed) {
  weigh::Weighing weighing = prepared_;
  const judge::Rules rules = rules_of(experiment);
  weigh::WeighPlan how = plan(experiment, seed);
  judge::Judgement judgement;
  Trial trial;
  int cures = 0;
  do {
    if (!weighing.placements.empty()) prepare(experiment, how.seed);
    std::vector<weigh::Contestant> contestants = contestants_of(parts_);
    Watcher watcher(experiment.goal, rules);
    weigh::weigh(how, runner_, contestants, weighing,
                 [&](const weigh::Weighing& so_far) { return watcher.enough(so_far); });
    if (weighing.failure) fail(Blame::kArm, "{}", *weighing.failure);
    watcher.cut(weighing);
    watcher.tell(trial, weighing.placements.size() == 1);
    fill(weighing);
    judgement = judge::judge(weighing, rules);
    how.seed += kSplitMixStep;
    how.fresh_processes = true;
  } while (again(experiment, judgement, weighing, cures));
  trial.setting = name_of(setting_);
  trial.experiment = experiment.name;
  trial.seed = seed;
  trial.k = problem_.k;
  trial.n = problem_.n;
  trial.threads = setting_.threads;
  tell_truth(experiment, weighing, trial);
  tell_judgement(judgement, trial);
  return trial;
}

}  // namespace tare::app
