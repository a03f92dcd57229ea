// The parts of an explanation (explain.h), in the order in which they are told. Each adds nothing
// where it has nothing to say.
#pragma once

#include <functional>
#include <string>

#include "report/results.h"
#include "report/sheet.h"

namespace tare::report::sections {

// From the record (explain_record.cpp).
void asked(const Row& row, const judge::Rules& rules, Sheet& sheet);
void screened(const Row& row, Sheet& sheet);
void prepared(const Row& row, Sheet& sheet);
void proved(const Row& row, const judge::Rules& rules, Sheet& sheet);
void samples(const Row& row, Sheet& sheet);

// From the judgement (explain_judgement.cpp).
void times(const Row& row, Sheet& sheet);
void ratios(const Row& row, Sheet& sheet);
void naive(const Row& row, Sheet& sheet);
// The game, the interval and the control.
void certainty(const Row& row, const judge::Rules& rules, Sheet& sheet);
void gates(const Row& row, Sheet& sheet);
void verdict(const Row& row, const judge::Rules& rules, bool stands_together, Sheet& sheet);

}  // namespace tare::report::sections
