// The implementations found on this machine, as files and doctor list them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
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

std::chrono::milliseconds patience_of(double seconds);

// A plugin that cannot even be loaded is bad input: throws tare::Error (kInput).
void check_plugins(const arms::Roster& roster);

std::vector<report::Library> libraries_of(const arms::Roster& roster);

// The same of a roster that is there for that alone: every module is loaded once.
std::vector<report::Library> libraries_here(arms::Where where);

}  // namespace tare::app
