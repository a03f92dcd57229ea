#include "calibration_plan.h"

#include <fmt/format.h>

#include <cmath>

#include "judge/words.h"

namespace tare::app {
namespace {

using planted::Plant;
using planted::Spell;

constexpr double kGross = 0.05;  // shares that are seen at once, also beside a neighbour
constexpr double kNeighbourly = 0.02;
constexpr double kColdest = 0.005;  // smaller shares take a cold run minutes

const Plant& nothing() {
  return *planted::find_plant("planted-none");
}

const char* spell_text(Spell spell) {
  switch (spell) {
    case Spell::kAlways:
      return "";
    case Spell::kSomeCalls:
      return " in 15 % of calls";
    case Spell::kSomeRegions:
      return " in 15 % of regions";
  }
  return "";
}

// What an arm with the plant has more than one without, or less when the other one has it.
std::string difference(const Plant& plant, bool candidate_has_it) {
  if (plant.share > 0)
    return fmt::format("{:g} %{} {}", 100 * plant.share, spell_text(plant.spell),
                       candidate_has_it ? "slower" : "faster");
  const bool region = plant.region_seconds > 0;
  return fmt::format("{} {}{}", region ? "a" : "c", candidate_has_it ? "+" : "-",
                     judge::duration(region ? plant.region_seconds : plant.dispatch_seconds));
}

Experiment in_candidate(const Plant& plant, Goal goal) {
  return {difference(plant, true), &nothing(), &plant, goal};
}

Experiment in_incumbent(const Plant& plant, Goal goal) {
  return {difference(plant, false), &plant, &nothing(), goal};
}

Experiment equal_arms(Goal goal, const char* name = "nothing") {
  return {name, &nothing(), planted::find_plant("planted-same"), goal};
}

bool belongs(const Plant& plant, const CalibrationSetting& setting) {
  const bool quiet = setting.neighbour == device::NeighbourKind::kNone;
  if (plant.share == 0) return quiet && (plant.region_seconds > 0 || plant.dispatch_seconds > 0);
  if (!quiet) return plant.share == kNeighbourly || plant.share == kGross;
  return setting.residency == weigh::Residency::kHot || plant.share >= kColdest;
}

}  // namespace

std::vector<Experiment> experiments_of(const CalibrationSetting& setting) {
  if (setting.equal) return {equal_arms_of(*setting.equal)};
  std::vector<Experiment> experiments{equal_arms(Goal::kDecide)};
  for (const Plant& plant : planted::kPlants) {
    if (!belongs(plant, setting)) continue;
    const Goal goal = plant.share > 0 ? Goal::kSee : Goal::kDecide;
    experiments.push_back(in_candidate(plant, goal));
    if (plant.spell == Spell::kAlways) experiments.push_back(in_incumbent(plant, goal));
  }
  if (setting.neighbour == device::NeighbourKind::kNone)
    experiments.push_back(equal_arms(Goal::kOneLength, "one region length"));
  return experiments;
}

Experiment equal_arms_of(const EqualArm& arm) {
  return {"nothing, " + arm.name, nullptr, nullptr, Goal::kDecide};
}

Experiment equal_arms_watched() {
  return equal_arms(Goal::kWatch);
}

std::vector<Experiment> confirmation_of(double smallest) {
  for (const Plant& plant : planted::kPlants)
    if (plant.share > smallest && plant.spell == Spell::kAlways)
      return {in_candidate(plant, Goal::kSee)};
  return {};
}

}  // namespace tare::app
