// The harness that the traps are set for: one process, one clock, one loop, as benchmarks in public
// do it. It believes what it is told. Every lie runs in a process of its own that ends with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "prove/generator.h"
#include "tare/arm.h"

namespace tare::traps {

// A naive check of an output: y as the arm left it, and the exact results in double.
using NaiveCheck = bool (*)(std::span<const prove::Bf16> y, std::span<const double> truth);

struct NaivePlan {
  std::uint64_t k = 1536, n = 256;
  std::uint32_t rows = 1;
  std::uint32_t threads = 1;
  std::uint32_t copies = 1;         // of the weights; dispatches rotate through them
  std::uint32_t restart_after = 0;  // samples after which the rotation starts anew; 0: never
  std::uint32_t samples = 60;
  std::uint32_t dispatches = 1;  // a sample, with one fence behind
  // On a GPU: the dispatches of a sample are staged before it, as one region.
  bool staged = false;
  bool one_by_one = false;    // a region is launched dispatch by dispatch, not as a graph
  bool device_clock = false;  // and what the arm says of the device's clock is believed
  bool warm_up = true;
  bool prepare_inside = false;  // prepare, bind and destroy are timed
  bool zero_weights = false;
  bool small_pages = false;             // the arm's memory lies on 4 KiB pages
  std::size_t flush_bytes = 0;          // overwritten before every sample, and timed with it
  float x_scale = 1;                    // a power of two
  bool right_answer_left_in_y = false;  // by whoever computed the reference
  NaiveCheck check = nullptr;           // after the last sample
};

struct NaiveResult {
  std::vector<double> seconds;  // of every sample
  double prepare_seconds = 0;
  bool passed = false;  // the check
  std::string died;     // "killed by signal 11"; "" when it ended well

  double mean() const;  // seconds a sample
  double least() const;
  double median() const;
};

// Runs the modules one after the other in one process, on the same x and y.
std::vector<NaiveResult> run_naively(const NaivePlan& plan,
                                     const std::vector<std::string>& modules);

// torch.allclose: |y - truth| <= absolute + relative * |truth|, of every element.
bool all_close(std::span<const prove::Bf16> y, std::span<const double> truth, double absolute,
               double relative);
// All elements within 1e-2 and 1 %.
bool close_enough(std::span<const prove::Bf16> y, std::span<const double> truth);

}  // namespace tare::traps
