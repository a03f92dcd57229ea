// The arm host's side of the process border: what runs when the executable is started as an arm
// host.
#pragma once

#include <cstdint>
#include <string>

namespace tare::arms {

// What the parent passes on the host's command line: descriptors of shared memory and sizes.
struct HostArguments {
  std::string module_path;
  std::uint32_t threads = 1;
  int control_descriptor = -1;
  int inputs_descriptor = -1;
  std::uint64_t inputs_bytes = 0;
  int outputs_descriptor = -1;
  std::uint64_t outputs_bytes = 0;
};

// The first argument that makes the executable an arm host. Not for people.
inline constexpr const char* kHostVerb = "arm-host";

// Parses the arguments after the verb; throws tare::Error (kInput) when somebody types them by
// hand.
HostArguments parse_host_arguments(int count, char** arguments);

// Serves until the parent says quit or is gone. Returns the exit code.
int run_host(const HostArguments& arguments);

}  // namespace tare::arms
