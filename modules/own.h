// What our own modules share: no exception crosses the ABI, and text fits its field.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <exception>

#include "base/error.h"
#include "tare/arm.h"

namespace tare::modules {

// Writes at most Size - 1 characters and a NUL.
template <std::size_t Size, typename... Args>
void say(char (&field)[Size], fmt::format_string<Args...> format, Args&&... args) {
  *fmt::format_to_n(field, Size - 1, format, std::forward<Args>(args)...).out = '\0';
}

// Runs `step`; on an exception writes its sentence and returns 1.
template <typename Step>
int guarded(char* why, std::size_t why_size, const Step& step) {
  try {
    step();
    return 0;
  } catch (const std::exception& error) {
    if (why_size > 0) *fmt::format_to_n(why, why_size - 1, "{}", error.what()).out = '\0';
    return 1;
  }
}

inline void require_bf16(const tare_problem& problem) {
  if (problem.weights != TARE_BF16 || problem.activations != TARE_BF16 ||
      problem.output != TARE_BF16 || problem.accumulator != TARE_F32) {
    fail(Blame::kArm,
         "computes bf16 weights, activations and output with f32 sums, nothing else yet");
  }
}

}  // namespace tare::modules
