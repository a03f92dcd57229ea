// Records a trace of identical arms: what every rule of bench/judges is given.
//
//   bench_judges_record --k 512 --n 512 --threads 1 --seconds 30 --order rounds OUT.trace
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "device/machine.h"
#include "device/neighbour.h"
#include "judges/trace.h"

namespace {

using namespace tare::bench;

struct Options {
  ArmsShape shape;
  double ring_mib = 0, seconds = 10, segment_seconds = 0.5;
  std::string order = "rounds", neighbour = "none", setting, out;
  std::uint64_t seed = 1;
};

using tare::device::NeighbourKind;
const std::map<std::string, NeighbourKind> kNeighbours{{"none", NeighbourKind::kNone},
                                                       {"bursts", NeighbourKind::kBursts},
                                                       {"bus", NeighbourKind::kBus}};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[sizeof "2026-01-01"] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// Processor seconds that others than this process took, the neighbour among them.
double others_seconds() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  const tare::device::ProcessorTime all = tare::device::processor_time();
  return all.busy + all.steal - seconds(own.ru_utime) - seconds(own.ru_stime);
}

nlohmann::json header_of(const Options& options, const Arms& arms) {
  return {{"format", 1},
          {"setting", options.setting},
          {"order", options.order},
          {"kernel", fmt::format("panel, bf16, {}", arms.kernel())},
          {"k", options.shape.k},
          {"n", options.shape.n},
          {"rows", 1},
          {"threads", options.shape.threads},
          {"residency", options.shape.ring_bytes == 0 ? "hot" : "cold"},
          {"slots", arms.slots()},
          {"arms", kArms},
          {"opening", options.order == "rounds" && options.shape.ring_bytes == 0},
          {"neighbour", options.neighbour},
          {"seed", options.seed},
          {"unit", "ns"},
          {"date", today()},
          {"machine", tare::device::summary(tare::device::inspect())}};
}

template <typename Value>
void write(std::ofstream& file, const std::vector<Value>& values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(Value)));
}

void record(const Options& options) {
  const tare::device::Neighbour neighbour(kNeighbours.at(options.neighbour), options.seed);
  Arms arms(options.shape, kArms, options.seed);
  nlohmann::json header = header_of(options, arms);
  std::ofstream file(options.out, std::ios::binary);
  const double others_before = others_seconds();
  const auto finish_header = [&] {
    const double share = (others_seconds() - others_before) / options.seconds;
    header["others_processors"] = std::max(0.0, std::round(1000 * share) / 1000);
    file << header.dump() << '\n';
  };
  if (options.order == "rounds") {
    const Rounds rounds =
        record_rounds(arms, options.seconds, header["opening"].get<bool>(), options.seed);
    header["rounds"] = rounds.order.size() / kArms;
    finish_header();
    write(file, rounds.nanoseconds);
    write(file, rounds.order);
    write(file, rounds.buffers);
  } else {
    const Segments segments =
        record_segments(arms, options.seconds, options.segment_seconds, options.seed);
    header["counts"] = segments.counts;
    header["buffers"] = segments.buffers;
    finish_header();
    write(file, segments.nanoseconds);
  }
  file.close();
  if (!file)
    tare::fail(tare::Blame::kMachine, "cannot write {}: check the folder and the space on it",
               options.out);
}

}  // namespace

int main(int count, char** words) {
  Options options;
  CLI::App app("Records region times of four identical arms");
  app.add_option("--k", options.shape.k, "inputs")->default_val(512)->check(CLI::Range(1, 65536));
  app.add_option("--n", options.shape.n, "outputs")->default_val(512)->check(CLI::Range(1, 65536));
  app.add_option("--threads", options.shape.threads)->default_val(1)->check(CLI::Range(1, 1024));
  app.add_option("--ring", options.ring_mib, "MiB of weights of one buffer set; 0: hot")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  app.add_option("--segment", options.segment_seconds, "seconds of one segment")
      ->check(CLI::PositiveNumber);
  app.add_option("--order", options.order)->check(CLI::IsMember({"rounds", "segments"}));
  app.add_option("--neighbour", options.neighbour)->check(CLI::IsMember(&kNeighbours));
  app.add_option("--setting", options.setting, "its name in the table");
  app.add_option("--seed", options.seed);
  app.add_option("OUT", options.out)->required();
  CLI11_PARSE(app, count, words);
  options.shape.ring_bytes = static_cast<std::uint64_t>(options.ring_mib * 1024 * 1024);
  try {
    record(options);
  } catch (const tare::Error& error) {
    std::cerr << "bench_judges_record: " << error.what() << '\n';
    return error.blame() == tare::Blame::kInput ? 2 : 1;
  }
}
