// Comparing outputs bit by bit, and against an fp64 oracle. NaN and Inf are compared as classes first: a NaN
// never passes for a number (TRAPS C1).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "prove/generator.h"

namespace tare::prove {

// The two outputs of one dispatch, compared as bit patterns.
struct Difference {
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;       // bit patterns that differ
  std::uint64_t class_mismatch = 0;  // NaN, +Inf, -Inf or finite on one side and not on the other
  std::uint64_t non_finite = 0;      // elements of `candidate` that are not finite
  std::uint32_t max_ulp = 0;         // over pairs that are finite on both sides; bf16 steps
};
Difference compare_bits(std::span<const Bf16> incumbent, std::span<const Bf16> candidate);

// Digest of an output buffer (64 bits, stable over versions: it is written into result files).
std::uint64_t digest(std::span<const Bf16> output);

// Fills a buffer with a pattern that no right output has: poison 0 is a NaN with a payload, poison 1 is another, finite
// and huge. An output element that still holds the poison after both runs was never written (TRAPS C3).
void poison(std::span<Bf16> output, int which);

// Error of an output against fp64: each error is in units of the bf16 step (ulp) at the oracle's value, but
// never smaller than the step at the row's root mean square, so that cancellation near zero does not
// dominate. 0.5 is a perfect rounding.
struct OracleError {
  std::uint64_t checked = 0;
  double max_ulp = 0;
  double rms_ulp = 0;
  std::uint64_t non_finite = 0;
};

// One element of y to check: row r, output j.
struct Element {
  std::uint32_t row;
  std::uint64_t output;
};
// `count` distinct elements (all of them when there are fewer), drawn by `seed`; always holds the four corners.
std::vector<Element> draw_elements(std::uint32_t rows, std::uint64_t n, std::size_t count, std::uint64_t seed);

// The exact dot products in double (summed with compensation) for those elements. `x` is [rows, k]; weights are
// generated row by row from (seed, slot), so no weight matrix is needed.
std::vector<double> oracle(std::span<const Bf16> x, std::uint64_t k, std::uint64_t weight_seed,
                           std::uint64_t slot, std::span<const Element> elements);
OracleError oracle_error(std::span<const Bf16> output, std::uint64_t n, std::span<const Element> elements,
                         std::span<const double> truth);

float to_float(Bf16 bits);
Bf16 to_bf16(float value);  // nearest even; NaN stays NaN

}  // namespace tare::prove
