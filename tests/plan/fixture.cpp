#include "tests/plan/fixture.h"

#include "judge/judge.h"

namespace tare::plan::fixture {

report::Results results(std::uint64_t differing) {
  report::Results run;
  run.header = report::samples::header();
  for (report::Library& library : run.header.libraries)
    if (library.found) library.module = library.arm + "'s digest";
  const auto row = [&](std::uint32_t rows, double incumbent_seconds) {
    report::Row made = report::samples::judged_row({.rows = rows,
                                                    .incumbent_seconds = incumbent_seconds,
                                                    .differing = rows == 1 ? differing : 0});
    // The candidate's module is listed by the name of its arm.
    for (weigh::Arm& arm : made.weighing.arms)
      if (arm.role == weigh::Role::kCandidate) arm.name = "tare_cpu";
    return made;
  };
  run.rows = {row(1, 150e-6), row(8, 112e-6)};
  return run;
}

Plan plan(judge::Equality equality, std::uint64_t differing) {
  report::Results run = results(differing);
  run.header.rules.equality = equality;
  return make_plan(run);
}

}  // namespace tare::plan::fixture
