// What all modules share: the fence that keeps exceptions inside,
// sentences for `why`, the dispatch record, memory from the host, and the refusal of problems at
// other types.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/reason.h"
#include "formats/weight_format.h"
#include "tare/arm.h"

namespace tare::modules {

// Runs `body`; what it throws becomes a sentence in `why`. Returns what the C ABI wants: 0, or 1
// after a failure.
template <typename Body>
int fenced(char* why, std::size_t why_size, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return 0;
  } catch (const std::bad_alloc&) {
    write_reason(why, why_size, "there is not enough memory; use a smaller ring or shape");
  } catch (const std::exception& problem) {
    write_reason(why, why_size, problem.what());
  } catch (...) {
    write_reason(why, why_size, "the library threw something that is not a std::exception");
  }
  return 1;
}

// The same for the timed path, which has no text.
template <typename Body>
int fenced(Body&& body) noexcept {
  return fenced(nullptr, 0, std::forward<Body>(body));
}

// Fills one field of a record that prepare()'s caller zeroed or not: cut to fit, the rest zero.
template <std::size_t size>
void fill(char (&field)[size], std::string_view text) noexcept {
  std::memset(field, 0, size);
  std::memcpy(field, text.data(), std::min(text.size(), size - 1));
}

struct RecordText {
  std::string_view kernel, isa, configuration, library;
};
inline void fill(tare_dispatch_record& record, const RecordText& text,
                 std::uint32_t threads) noexcept {
  fill(record.kernel, text.kernel);
  fill(record.isa, text.isa);
  fill(record.configuration, text.configuration);
  fill(record.library, text.library);
  record.threads = threads;
}

inline std::string_view type_name(std::uint32_t type) {
  const std::string_view name = formats::type_name(type);
  return name.empty() ? "an unknown type" : name;
}

// Types of a bias that a module adds; of none is the rule.
using Biases = std::initializer_list<std::uint32_t>;
inline constexpr Biases kAnyBias{TARE_BF16, TARE_F16, TARE_F32};

// "bf16 or f32".
inline std::string names_of(std::initializer_list<std::uint32_t> types) {
  std::string names;
  for (const std::uint32_t type : types)
    names += fmt::format("{}{}", names.empty() ? "" : " or ", type_name(type));
  return names;
}

inline void require_bias(const tare_problem& problem, std::string_view library, Biases biases) {
  if (problem.bias == 0 || std::ranges::find(biases, problem.bias) != biases.end()) return;
  if (biases.size() == 0)
    fail(Blame::kArm, "the {} module adds no bias here; the problem has one of {}", library,
         type_name(problem.bias));
  fail(Blame::kArm, "the {} module adds a bias of {} only here; the problem has one of {}", library,
       names_of(biases), type_name(problem.bias));
}

// Throws unless the sizes are at least 1 and fit `largest`, the largest extent the library's API
// can express, and there is no bias or one of `biases`.
inline void require_sizes(const tare_problem& problem, std::string_view library,
                          std::uint64_t largest, Biases biases = {}) {
  if (problem.k == 0 || problem.n == 0 || problem.rows == 0) {
    fail(Blame::kArm, "k, n and rows must be at least 1; the problem is {}x{} with {} rows",
         problem.k, problem.n, problem.rows);
  }
  if (problem.k > largest || problem.n > largest || problem.rows > largest) {
    fail(Blame::kArm, "{} takes extents up to {}; the problem is {}x{} with {} rows", library,
         largest, problem.k, problem.n, problem.rows);
  }
  if (const formats::WeightFormat* format = formats::find_format(problem.weights))
    formats::require_whole_blocks(*format, problem.k);
  require_bias(problem, library, biases);
}

// The same, and throws unless output is bf16 and sums are f32. What weights and activations it
// takes is the module's own business.
inline void require_common(const tare_problem& problem, std::string_view library,
                           std::uint64_t largest = std::numeric_limits<std::uint64_t>::max(),
                           Biases biases = {}) {
  if (problem.output != TARE_BF16 || problem.accumulator != TARE_F32) {
    fail(Blame::kArm,
         "the {} module computes with bf16 output and f32 accumulators only here; the problem has "
         "{} and {}",
         library, type_name(problem.output), type_name(problem.accumulator));
  }
  require_sizes(problem, library, largest, biases);
}

// x and y are f32, as the sums are.
inline bool has_f32_values(const tare_problem& problem) {
  return problem.activations == TARE_F32 && problem.output == TARE_F32 &&
         problem.accumulator == TARE_F32;
}

// Nothing is rounded but sums: what a BLAS calls sgemm.
inline bool is_all_f32(const tare_problem& problem) {
  return problem.weights == TARE_F32 && has_f32_values(problem);
}

// Throws unless the problem is weights of one of `types`, bf16 activations and output with an f32
// accumulator, its sizes fit `largest`, the largest extent the library's API can express, and there
// is no bias or one of `biases`.
inline void require_plain(const tare_problem& problem, std::string_view library,
                          std::initializer_list<std::uint32_t> types,
                          std::uint64_t largest = std::numeric_limits<std::uint64_t>::max(),
                          Biases biases = {}) {
  if (std::ranges::find(types, problem.weights) == types.end()) {
    fail(Blame::kArm, "the {} module computes with {} weights only; the problem has {}", library,
         names_of(types), type_name(problem.weights));
  }
  if (problem.activations != TARE_BF16) {
    fail(Blame::kArm, "the {} module computes with bf16 activations only; the problem has {}",
         library, type_name(problem.activations));
  }
  require_common(problem, library, largest, biases);
}

// The same of bf16 weights.
inline void require_bf16(const tare_problem& problem, std::string_view library,
                         std::uint64_t largest = std::numeric_limits<std::uint64_t>::max(),
                         Biases biases = {}) {
  require_plain(problem, library, {TARE_BF16}, largest, biases);
}

// a * b, or a failure where that does not fit a std::size_t.
inline std::size_t bytes_of(std::uint64_t elements, std::uint64_t more, std::size_t element_size) {
  std::uint64_t product = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(elements, more, &product) ||
      __builtin_mul_overflow(product, element_size, &bytes)) {
    fail(Blame::kArm, "a matrix of {} x {} elements does not fit this machine's addresses",
         elements, more);
  }
  return bytes;
}

// Memory of the host's arena (tare_services::allocate): 64-byte aligned, zeroed, counted in the
// arm's report.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const tare_services& services, std::size_t bytes)
      : memory_(services.allocate(std::max<std::size_t>(bytes, 1)), services.release) {
    if (!memory_) fail(Blame::kMachine, "the host has no {} bytes more; use a smaller ring", bytes);
  }
  void* data() const { return memory_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_{nullptr, nullptr};
};

}  // namespace tare::modules
