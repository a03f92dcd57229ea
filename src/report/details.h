// The lines that stand under a row of the table: why it failed, what a naive harness would have
// said, and with --all the fits of its arms and the other incumbents.
#pragma once

#include <string>

#include "report/results.h"
#include "report/table.h"

namespace tare::report {

// Whole lines, '\n' included; "" when there is nothing to add.
std::string row_details(const Row& row, const Header& header, const TableStyle& style);

// What makes an incumbent weak by its own making (TRAPS T18, T23): it took part with fewer threads
// than it was offered, or its kernel has no instructions beyond the architecture's baseline. "" for
// one that does what it can.
std::string weakness(const weigh::Arm& incumbent);

// What a row lacks whose equality was looked for in vain: "with other bits than the incumbent's".
std::string broken_equality_text(judge::Equality asked);

// "1.284x", "12.3x"; "-" when it was not measured (zero, negative or not finite).
std::string ratio_text(double ratio);

// "about 12.0 s more of regions would decide it": of Judgement::seconds_to_decide, above 0.
std::string decides_text(double seconds);

// "oneDNN 2.6.3, brg:avx512_core_bf16, AVX-512 BF16, 2 threads": what an arm says it ran.
std::string ran_as(const weigh::Arm& arm);

}  // namespace tare::report
