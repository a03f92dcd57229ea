// `tare headroom`: weighs a model's projections on this machine and prints the table.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "judge/judge.h"
#include "report/results.h"
#include "weigh/weighing.h"

namespace tare::app {

// The incumbent of a row is picked: a win is found again in fresh processes before it is one.
inline constexpr std::uint32_t kVerdictPlacements = 2;
inline constexpr std::uint32_t kMostPlacements = 4;  // where luck may have made the verdict
// More than launching a dispatch by itself was seen to cost on a GPU: 6 to 35 us, on a host whose
// processors are slow for seconds (docs/how-sure.md).
inline constexpr double kDeviceCallingCost = 40e-6;

inline constexpr double kDefaultTraffic = 1e9;
// A GPU reads that in a quarter of a millisecond, of which launching is a tenth.
inline constexpr double kDefaultDeviceTraffic = 1e10;

// Every incumbent has a scout at the same time: of an lm_head of a gigabyte five took more than
// memory held. Columns of a larger one are alike, so a part of them tells who is the fastest.
inline constexpr double kLargestScout = 256e6;  // bytes

struct HeadroomOptions {
  // Paths, or names of models that are built in; none: the default models.
  std::vector<std::string> models;
  std::vector<std::string> shapes;  // "4096x1024"
  std::vector<std::string>
      projections;                   // q, k, v, o, ...; none: all (of the default models: q,k,v,o)
  std::string weights, activations;  // names of types; "": the model's own, and what goes with them
  std::vector<std::uint32_t> rows{1, 8, 32};
  std::vector<std::string> plugins;
  std::string candidate, incumbent;  // names of arms; "": the first that can, the fastest
  judge::Equality equality = judge::Equality::kIncumbent;
  weigh::Mode mode = weigh::Mode::kPrepared;
  weigh::Residency residency = weigh::Residency::kCold;
  std::optional<double> traffic;  // given by the user: then no gate raises it
  std::optional<double> ring_bytes;
  double scout_bytes = kLargestScout;
  std::uint32_t threads = 0;  // 0: all this process may use
  double seconds_per_row = 1.6;
  double patience_seconds = 20;
  std::optional<std::uint64_t> seed;
  std::string json_path;
  bool all = false;
  bool chain = false;  // also all projections of a model as one dispatch
  bool fused = false;  // q, k and v as one projection, and gate and up
  bool bias = false;   // with the biases that a model has, and one for a shape
  arms::Where where = arms::Where::kProcessor;
  bool stream_launches = false;  // on a device: every dispatch launched by itself, no graph
  bool overlap = true;  // on a device: programmatic dependent launch is offered to all arms
  std::vector<std::string> command;  // as typed, for the record
};

// What headroom and budget have in common: types, row counts, arms, equality, how long, where to.
// The check throws tare::Error (kInput).
void add_weighing_options(CLI::App& verb, HeadroomOptions& options);
void check_weighing_options(const HeadroomOptions& options);

// Adds the verb to the command line; `options` is filled when it is parsed.
CLI::App* add_headroom(CLI::App& app, HeadroomOptions& options);

// The words of --equality and of --device, as an option takes them.
CLI::Validator equality_words();
CLI::Validator device_words();

// What the table was printed from, and the verb's exit code.
struct Weighed {
  report::Results results;
  int exit_code = 0;
};

// The whole verb: weighs, prints the table, and writes the results file where one is asked for.
Weighed weigh(const HeadroomOptions& options);

// Returns the exit code.
int headroom(const HeadroomOptions& options);

}  // namespace tare::app
