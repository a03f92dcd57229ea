// A results file: one JSON object per line (JSON Lines), written as rows finish, so that an
// interruption or a full disk loses at most the row in hand. The schema is docs/results-schema.md;
// kSchema names its version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/accelerator.h"
#include "device/machine.h"
#include "judge/judge.h"
#include "problem/problem.h"
#include "report/line_file.h"
#include "weigh/weighing.h"

namespace tare::report {

inline constexpr const char* kSchema = "tare.headroom/2";

// One implementation as found on this machine: loaded with a version, or absent with a reason.
struct Library {
  std::string arm;    // "onednn"
  std::string title;  // "oneDNN 2.6.3"
  bool found = false;
  std::string reason;  // why not
  bool candidate = false;
  bool limit = false;       // TARE_IS_LIMIT: a floor, never a row's incumbent
  std::string module{};     // digest of the module's file (prove::digest_of_file); "": not known
  bool on_request = false;  // absent because nobody asked for it: ./tare incumbents
};

// What a run was asked for and where it ran: the first line of a file.
struct Header {
  std::string tare_version;
  std::string date;                  // ISO 8601, UTC
  std::vector<std::string> command;  // the arguments, as given
  device::Machine machine;
  std::vector<Library> libraries;
  std::vector<problem::Model> models;
  std::vector<std::uint32_t> rows;
  weigh::Mode mode = weigh::Mode::kPrepared;
  weigh::Residency residency = weigh::Residency::kCold;
  double traffic = 1e9;
  std::uint64_t ring_bytes = 0;  // of one arm
  std::uint64_t seed = 0;
  judge::Rules rules;
  std::optional<device::Accelerator> accelerator;  // where arms run; nothing: on the processor
};

// One incumbent in the screening that picked the row's incumbent.
struct Screened {
  std::string arm, title;
  double seconds_per_dispatch = 0;  // 0: not run
  double gbps = 0;
  std::string reason;  // why it did not run, or was given up: a sentence; "" when it ran
};

struct Row {
  std::string model, projection;   // "Qwen2.5-1.5B", "q/o"
  std::vector<Screened> screened;  // fastest first, then those that did not run
  weigh::Weighing weighing;
  judge::Judgement
      judgement;  // always judge(weighing, header.rules); recomputed when a file is read
};

// The last line of a complete file.
struct Footer {
  double seconds = 0;
  bool interrupted = false;
};

// Writes a results file line by line, as safely as report/line_file.h says. Not thread-safe.
class ResultsWriter {
 public:
  ResultsWriter(const std::filesystem::path& path, const Header& header);
  void write(const Row& row);
  void finish(const Footer& footer);

 private:
  LineFile file_;
  std::vector<std::string> digests_;  // of the header and of the rows that were written
};

struct Results {
  Header header;
  std::vector<Row> rows;
  std::optional<Footer> footer;  // absent: the run was cut short
  std::vector<std::string>
      complaints;  // lines that could not be used, and why; what can be read still is
};

// Reads what can be read: a row that is cut short, holds a field of a wrong type or stands there
// twice is left out and complained of, with its line and its field. Judgements are recomputed; a
// verdict in the file that its samples do not give, samples that are not those of their digests,
// times that cannot be and a missing footer are complained of, too. Time grows with the size of the
// file, whatever it holds. Throws tare::Error (kInput) when nothing can be read: no file, not JSON,
// another or a newer schema, a broken header.
Results read_results(const std::filesystem::path& path);

}  // namespace tare::report
