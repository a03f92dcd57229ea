// The gallery: every trap, in the order of the catalogue of ways to lie.
#include <algorithm>

#include "traps/trap.h"

namespace tare::traps {

// One a file under lies/.
extern const Trap kUnamortised, kCompilesInside, kPerCall, kWarmWeights, kWarmColdMode,
    kPersistingL2, kFlushInside, kLazy, kAfterTheFence, kMemoised, kDeadCode, kZeros, kFirstTouch,
    kSmallPages, kOrder, kThrottling, kTiring, kThrottledDevice, kNeighbour, kUnequalThreads,
    kDispatchCost, kGraphOnOneSide, kTimer, kPrecision, kCancelledSums, kPacking, kWeakIncumbent,
    kBestOf, kOptionalStopping, kWinnersCurse, kFallback, kClonedCode, kFailuresAveraged,
    kArithmetic, kPseudoReplication, kSameToken, kShortRotation, kTamperedClock, kSpinningWorkers,
    kSharedProcess, kHobbledIncumbent, kPlacement, kTies, kTail, kCrowdedProcess, kContextSwitch,
    kGraphMadeInside, kWarmL2, kUnawaitedLaunch, kNothingLaunched, kTamperedEvent, kNan,
    kLooseTolerance, kStaleOutput, kOutOfBounds, kInputsModified, kComparedWithItself, kOneShape,
    kDenormals, kRace, kNeighbours, kRowCount, kUncheckedRun, kImpreciseReference;

const std::vector<const Trap*>& catalogue() {
  static const std::vector<const Trap*> traps{&kUnamortised,
                                              &kCompilesInside,
                                              &kPerCall,
                                              &kWarmWeights,
                                              &kWarmColdMode,
                                              &kPersistingL2,
                                              &kFlushInside,
                                              &kLazy,
                                              &kAfterTheFence,
                                              &kMemoised,
                                              &kDeadCode,
                                              &kZeros,
                                              &kFirstTouch,
                                              &kSmallPages,
                                              &kOrder,
                                              &kThrottling,
                                              &kTiring,
                                              &kThrottledDevice,
                                              &kNeighbour,
                                              &kUnequalThreads,
                                              &kDispatchCost,
                                              &kGraphOnOneSide,
                                              &kTimer,
                                              &kPrecision,
                                              &kCancelledSums,
                                              &kPacking,
                                              &kWeakIncumbent,
                                              &kBestOf,
                                              &kOptionalStopping,
                                              &kWinnersCurse,
                                              &kFallback,
                                              &kClonedCode,
                                              &kFailuresAveraged,
                                              &kArithmetic,
                                              &kPseudoReplication,
                                              &kSameToken,
                                              &kShortRotation,
                                              &kTamperedClock,
                                              &kSpinningWorkers,
                                              &kSharedProcess,
                                              &kHobbledIncumbent,
                                              &kPlacement,
                                              &kTies,
                                              &kTail,
                                              &kCrowdedProcess,
                                              &kContextSwitch,
                                              &kGraphMadeInside,
                                              &kWarmL2,
                                              &kUnawaitedLaunch,
                                              &kNothingLaunched,
                                              &kTamperedEvent,
                                              &kNan,
                                              &kLooseTolerance,
                                              &kStaleOutput,
                                              &kOutOfBounds,
                                              &kInputsModified,
                                              &kComparedWithItself,
                                              &kOneShape,
                                              &kDenormals,
                                              &kRace,
                                              &kNeighbours,
                                              &kRowCount,
                                              &kUncheckedRun,
                                              &kImpreciseReference};
  return traps;
}

const Trap* find(const std::string& name_or_id) {
  const std::vector<const Trap*>& all = catalogue();
  const auto named =
      std::ranges::find_if(all, [&](const Trap* t) { return t->name == name_or_id; });
  if (named != all.end()) return *named;
  const auto has_id = [&](const Trap* trap) { return trap->ids == name_or_id; };
  if (std::ranges::count_if(all, has_id) != 1) return nullptr;
  return *std::ranges::find_if(all, has_id);
}

}  // namespace tare::traps
