// Does a plan hold here? Pure functions of the plan and of what was found.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace tare::plan {

// What is here now.
struct Here {
  device::Machine machine;
  std::string accelerator;      // as Keys has it
  std::vector<Module> modules;  // found now
};

// Why not, a sentence each that says both sides and what to do; empty: it holds.
std::vector<std::string> reasons_against(const Plan& plan, const Here& here);

// The machine alone: for an engine that loads no modules.
std::vector<std::string> reasons_against_machine(const Keys& keys, const device::Machine& machine);

}  // namespace tare::plan
