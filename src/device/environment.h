// Environment variables that hobble a library: the rules behind hobbling_variables().
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/machine.h"

namespace tare::device {

using Setting = std::pair<std::string, std::string>;  // variable, value

std::vector<Setting> environment();

// What is known about one variable, judged against the machine: OMP_NUM_THREADS of as many threads
// as the machine offers is fine, ONEDNN_MAX_CPU_ISA=AVX2 hobbles an AVX-512 machine only. Nothing
// when the variable is not one of ours to judge.
std::optional<Hobble> judge_setting(const Setting& setting, const Machine& machine);

// The findings of a whole environment, harmful ones first, else by name.
std::vector<Hobble> judge_environment(const std::vector<Setting>& settings, const Machine& machine);

}  // namespace tare::device
