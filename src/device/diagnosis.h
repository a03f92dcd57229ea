// What an observation means for somebody who wants to weigh kernels here, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "device/observation.h"

namespace tare::device {

enum class Status {
  kOk,
  kNote,  // good to know; measurements stand
  kWarn,  // measurements will be slower, wider or refused until something is done
};
const char* to_string(Status status);  // "ok", "note", "warn"

// One finding. `advice` says what follows and what to do; "" when there is nothing to do.
struct Finding {
  Status status = Status::kOk;
  std::string label;  // "huge pages"
  std::string value;  // "madvise"
  std::string advice;
};

struct Section {
  std::string title;  // "memory"
  std::vector<Finding> findings;
};

// "processor", "memory", "quiet", "allowance", "environment", "GPU": in this order, each with at
// least one finding. A pure function.
std::vector<Section> diagnose(const Observation& seen);

// The section "GPU", by itself.
Section diagnose_accelerator(const AcceleratorObservation& seen);

// Rings of one size that a row holds at the same time: incumbents, control, candidate, limits.
inline constexpr std::uint64_t kRingsAtOnce = 8;
inline constexpr double kMostOfMemory = 0.8;  // of what is available, that rings may take

// Bytes of weights that one arm rotates through so that they are cold: four times all the
// last-level caches that our processors use, and 256 MB at least (for caches that the machine does
// not tell of).
std::uint64_t cold_ring_bytes(const Machine& machine);

// "48 KiB", "2 MiB", "23.5 GiB".
std::string readable_bytes(std::uint64_t bytes);

}  // namespace tare::device
