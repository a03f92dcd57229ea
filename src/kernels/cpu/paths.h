// The instruction sets our kernels are built for, and which of them this processor should run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/panel_task.h"
#include "tare/arm.h"

namespace tare::kernels {

// The panel kernel for one instruction set. All give the same bits.
struct PanelPath {
  const char* name;  // as TARE_CPU_ISA takes it
  const char* isa;   // as a record prints it
  const char* tile;
  // One thread's; lanes are SumOrder's.
  std::uint64_t (*scratch_bytes)(std::uint64_t pairs, std::uint64_t rows, std::uint64_t lanes);
  void (*run)(const PanelTask& task);
};

// Defined where the processor family has them (src/kernels/CMakeLists.txt).
extern const PanelPath kAvx512Bf16Panel;
extern const PanelPath kAvx512Panel;
extern const PanelPath kAvx2Panel;
extern const PanelPath kPortablePanel;
extern const PanelPath kAvx512F16Panel, kAvx512F32Panel;
extern const PanelPath kAvx2F16Panel, kAvx2F32Panel;
extern const PanelPath kPortableF16Panel, kPortableF32Panel;
extern const PanelPath kAmxPanel;
extern const GroupedPath kAvx512Bf16Grouped;
extern const GroupedPath kAvx512VbmiGrouped;
extern const GroupedPath kAvx512Grouped;
extern const GroupedPath kAvx2Grouped;
extern const GroupedPath kPortableGrouped;
extern const GroupedPath kAvx512VnniRounded;
extern const GroupedPath kAvx2Rounded;
extern const GroupedPath kPortableRounded;

// Those that were built and that this processor and operating system can run, widest first; never
// empty. Panels are of TARE_BF16, TARE_F16 or TARE_F32 weights.
std::span<const PanelPath* const> panel_paths(std::uint32_t weights = TARE_BF16);
std::span<const GroupedPath* const> grouped_paths();
// Of activations rounded to 8 bits.
std::span<const GroupedPath* const> rounded_paths();

// The path named `wanted` ("portable", "avx2", "avx512", "avx512bf16"), or for "" the one to use
// here. Throws tare::Error (Blame::kInput) for an unknown name, (Blame::kMachine) for one this
// processor cannot run.
const PanelPath& choose_panel_path(std::string_view wanted);
// Of f16 and f32 weights: the widest that is no wider than the path of that name.
const PanelPath& choose_panel_path(std::string_view wanted, std::uint32_t weights);
// Of quantised weights: the widest here that is no wider than the path of that name.
const GroupedPath& choose_grouped_path(std::string_view wanted);
// The path on AMX's tiles, whose bits are its own (amx_panel.h); asks the operating system for
// them, for the whole process. Throws tare::Error (Blame::kMachine) where there are none.
const PanelPath& amx_panel_path();
// Of activations rounded to 8 bits: the widest that is no wider than the path of that name.
const GroupedPath& choose_rounded_path(std::string_view wanted);

}  // namespace tare::kernels
