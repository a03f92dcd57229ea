#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/results.h"
#include "tests/report/samples.h"

namespace tare::report {
namespace {

// The error that `action` throws; fails the test when it throws none.
template <typename Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Blame::kMachine, ""};
}

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(ResultsWriter, EveryLineIsOnTheDiskWhenTheCallReturns) {
  const samples::TemporaryFile file;
  ResultsWriter writer(file.path(), samples::header());
  EXPECT_EQ(lines_of(samples::read_text(file.path())).size(), 1u);
  writer.write(samples::judged_row({}));
  EXPECT_EQ(lines_of(samples::read_text(file.path())).size(), 2u);
  writer.finish({12.5, false});
  const auto lines = lines_of(samples::read_text(file.path()));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["schema"], "tare.headroom/2");
  nlohmann::json footer = lines[2];
  EXPECT_EQ(footer.value("digest", "").size(), 32u);
  footer.erase("digest");
  EXPECT_EQ(footer, nlohmann::json::parse(
                        R"({"kind":"footer","seconds":12.5,"interrupted":false,"rows":1})"));
}

TEST(ResultsWriter, PutsWhatOtherProgramsNeedAtTheTopOfARow) {
  const samples::TemporaryFile file;
  const Row row = samples::judged_row({});
  ResultsWriter(file.path(), samples::header()).write(row);
  const nlohmann::json line = lines_of(samples::read_text(file.path())).at(1);
  EXPECT_EQ(line["model"], "Qwen2.5-1.5B");
  EXPECT_EQ(line["projection"], "q/o");
  EXPECT_EQ(line["k"], 1536);
  EXPECT_EQ(line["n"], 1536);
  EXPECT_EQ(line["rows"], 1);
  EXPECT_EQ(line["incumbent"]["version"], "2.6.3");
  EXPECT_EQ(line["candidate"]["name"], "tare_cpu");
  EXPECT_EQ(line["candidate"]["version"], "0.1.0");
  EXPECT_EQ(line["candidate"]["kernel"], "panel64");
  EXPECT_EQ(line["candidate"]["isa"], "AVX-512 BF16");
  EXPECT_EQ(line["candidate"]["gbps"], row.judgement.candidate_gbps);
  EXPECT_EQ(line["bound"], "memory");
  EXPECT_EQ(line["gap"], row.judgement.gap);
  EXPECT_EQ(line["ratio"], row.judgement.ratio);
  EXPECT_EQ(line["interval"],
            nlohmann::json({row.judgement.interval.low, row.judgement.interval.high}));
  EXPECT_EQ(line["bits"], "equal");
  EXPECT_EQ(line["verdict"], "win");
  EXPECT_EQ(line["decision"], "serve");
  EXPECT_EQ(line["cause"], "");
  EXPECT_EQ(line["weighing"]["regions"]["seconds"].size(), row.weighing.regions.size());
}

TEST(ResultsWriter, WritesNullForWhatWasNotMeasured) {
  const samples::TemporaryFile file;
  ResultsWriter(file.path(), samples::header()).write(samples::failed_row("it crashed"));
  const nlohmann::json line = lines_of(samples::read_text(file.path())).at(1);
  for (const char* field : {"incumbent", "candidate", "bound", "gap", "ratio", "interval"}) {
    EXPECT_TRUE(line[field].is_null()) << field;
  }
  EXPECT_EQ(line["verdict"], "refused");
  EXPECT_EQ(line["cause"], "failed");
  EXPECT_EQ(line["cause_sentence"], "it crashed");
}

TEST(ResultsWriter, SaysWhyAFileCannotBeCreated) {
  const Header header = samples::header();
  const Error missing = error_of([&] { ResultsWriter("/nowhere/at/all.jsonl", header); });
  EXPECT_EQ(missing.blame(), Blame::kInput);
  EXPECT_NE(std::string(missing.what()).find("/nowhere/at/all.jsonl"), std::string::npos);
  EXPECT_NE(std::string(missing.what()).find("its folder does not exist"), std::string::npos);
  const Error folder = error_of([&] { ResultsWriter("/", header); });
  EXPECT_EQ(folder.blame(), Blame::kInput);
  EXPECT_NE(std::string(folder.what()).find("that is a folder"), std::string::npos);
  const Error forbidden = error_of([&] { ResultsWriter("/proc/tare.jsonl", header); });
  EXPECT_EQ(forbidden.blame(), Blame::kInput);
}

TEST(ResultsWriter, AFullDiskIsTheMachinesFault) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const Error error = error_of([] { ResultsWriter("/dev/full", samples::header()); });
  EXPECT_EQ(error.blame(), Blame::kMachine);
  EXPECT_NE(std::string(error.what()).find("No space left on device; no rows written before"),
            std::string::npos)
      << error.what();
}

// A limit on the size of files stands for the disk that fills up amid a row.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(ResultsWriter, ADiskThatFillsUpLeavesTheRowsBeforeAndRoomForLaterOnes) {
  const samples::TemporaryFile file;
  const Row row = samples::judged_row({});
  ResultsWriter writer(file.path(), samples::header());
  writer.write(row);
  const std::string before = samples::read_text(file.path());
  {
    const FileSizeLimit limit(before.size() + 1000);
    const Error error = error_of([&] { writer.write(row); });
    EXPECT_EQ(error.blame(), Blame::kMachine);
    EXPECT_NE(std::string(error.what()).find("1 row written before is safe"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(samples::read_text(file.path()), before);
  writer.write(samples::judged_row({.rows = 8}));
  writer.finish({});
  const Results results = read_results(file.path());
  EXPECT_EQ(results.rows.size(), 2u);
  EXPECT_TRUE(results.complaints.empty());
}

}  // namespace
}  // namespace tare::report
