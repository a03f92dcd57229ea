// The implementations found on this machine, as files and doctor list them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "device/accelerator.h"
#include "report/results.h"
#include "weigh/stage.h"

namespace tare::app {

// What a roster of this program's own modules needs, over the buffers of `stage`, which it must not
// outlive.
arms::RosterOptions roster_options(const weigh::Stage& stage, std::uint32_t threads);

// The GPU that arms run on; nothing for the processor. Throws tare::Error as
// device::inspect_cuda().
std::optional<device::Accelerator> accelerator_at(arms::Where where);

// Of --patience: throws tare::Error (kInput) where it is no time to wait.
std::chrono::milliseconds patience_of(double seconds);

// Of --threads: all that this process may use where `asked` is 0; throws tare::Error (kInput) where
// it is more than those.
std::uint32_t threads_of(std::uint32_t asked, std::uint32_t usable);

// A plugin that cannot even be loaded is bad input: throws tare::Error (kInput).
void check_plugins(const arms::Roster& roster);

// Throws tare::Error (kMachine) where `copies` of the problem's weights, which are to be there at
// once in arm hosts, do not fit into memory. `what`: "prove".
void check_memory(const tare_problem& problem, double copies, const char* what);

// Whether an arm is called `name`, or might be where its module is not absent; "" asks for none.
// Throws tare::Error (kInput), with the names there are, where not. `option`: "--candidate".
void check_name(const arms::Roster& roster, const char* option, const std::string& name);

std::vector<report::Library> libraries_of(const arms::Roster& roster);

// The same of a roster that is there for that alone: every module is loaded once.
std::vector<report::Library> libraries_here(arms::Where where);

}  // namespace tare::app
