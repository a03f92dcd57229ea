// Comparing outputs bit by bit. NaN and Inf are compared as classes first: a NaN never passes for a
// number (TRAPS C1). All functions are pure and thread-safe. Errors against fp64 are oracle.h's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "prove/elements.h"
#include "prove/oracle.h"

namespace tare::prove {

// The two outputs of one dispatch, compared as bit patterns.
struct Difference {
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;       // bit patterns that differ
  std::uint64_t class_mismatch = 0;  // NaN, +Inf, -Inf or finite on one side and not on the other
  std::uint64_t non_finite = 0;      // elements of `candidate` that are not finite
  // Over pairs that are finite on both sides; steps of their type. +0 and -0 are 0 steps apart,
  // though they differ.
  std::uint32_t max_ulp = 0;
};
// Throws tare::Error (kArm) when the two have different lengths or types.
Difference compare_bits(ConstElements incumbent, ConstElements candidate);

// Digest of an output buffer: XXH3, 64 bits, no seed, over its bytes in memory. Stable over
// versions and machines of one byte order: it is written into result files.
std::uint64_t digest(ConstElements output);

// Digest of a file's bytes: XXH3, 128 bits, no seed, 32 hexadecimal digits. Throws tare::Error
// (kInput) where it cannot be read.
std::string digest_of_file(const std::filesystem::path& path);

// Fills a buffer with a pattern that no right output has: poison 0 is a NaN with a payload, poison
// 1 is another, finite and huge. An output element that still holds the poison after both runs was
// never written (TRAPS C3). `which` is 0 or 1.
void poison(Elements output, int which);

// Elements that still hold their poison in both outputs: `after_0` was poisoned with 0 before its
// run, and `after_1` with 1. Same length.
std::uint64_t count_unwritten(ConstElements after_0, ConstElements after_1);

float to_float(Bf16 bits);
Bf16 to_bf16(float value);  // nearest even; NaN stays NaN

}  // namespace tare::prove
