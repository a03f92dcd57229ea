// Inputs that tell what random ones do not. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "prove/elements.h"

namespace tare::prove {

// How a probe parts a dot product into two parts that cancel: as kernels part it that add partial
// sums, by halves of k or by even and odd elements.
enum class Parts { kHalves, kAlternating };

// x of one row, for which the dot product with `weights` is two large parts that cancel but for
// `rest` of the first: f32 sums keep it, and partial sums that were rounded to a narrower type lose
// much of it (TRAPS T21). `row` and `weights` have the same length, 2 at least; values are of the
// size of activations.
void cancelling_row(std::span<const double> weights, Parts parts, float rest, Elements row);

// Puts a NaN into a row, at both ends and in the middle: a kernel that mixes rows carries it into
// the others (TRAPS C4, C10).
void spoil_row(Elements row);

}  // namespace tare::prove
