#include "tests/report/samples.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

namespace tare::report::samples {
namespace {

using weigh::Purpose;
using weigh::Role;

constexpr std::uint64_t kLong = 212, kRound = 10, kSlice = 8;
constexpr double kSliceSeconds = 5e-6;  // of a dispatch of the thin slice

weigh::Arm arm(Role role, const char* name, const char* title, const char* kernel) {
  weigh::Arm result;
  result.role = role;
  result.name = name;
  result.title = title;
  std::strcpy(result.dispatched.kernel, kernel);
  std::strcpy(result.dispatched.isa, "AVX-512 BF16");
  std::strcpy(result.dispatched.library, title);
  result.dispatched.threads = 2;
  result.threads_offered = 2;
  result.huge_page_share = 1;
  result.prepare_seconds = 1.0 / 3;  // has no short decimal form
  result.prepared_bytes = 4'718'592;
  result.ring_slots = 221;
  result.ring_bytes = 1'042'808'832;
  return result;
}

double seconds_of(Role role, const Wanted& wanted) {
  switch (role) {
    case Role::kIncumbent:
    case Role::kControl:
      return wanted.incumbent_seconds;
    case Role::kCandidate:
      return wanted.candidate_seconds;
    case Role::kStream:
      return wanted.candidate_seconds * 0.9;
    case Role::kPeak:
      return wanted.candidate_seconds * 0.1;
  }
  return 0;
}

double seconds_of(Role role, Purpose purpose, const Wanted& wanted) {
  switch (purpose) {
    case Purpose::kRound:
    case Purpose::kLong:
    case Purpose::kHalfRing:
      return seconds_of(role, wanted);
    case Purpose::kSliceOne:
    case Purpose::kSliceMany:
      return kSliceSeconds;
    case Purpose::kSliceTwice:
      return 2 * kSliceSeconds;
  }
  return 0;
}

// The regions of one block, one after the other.
class Block {
 public:
  Block(std::uint32_t number, const Wanted& wanted, std::mt19937_64& random,
        weigh::Weighing& weighing)
      : number_(number), wanted_(wanted), random_(random), weighing_(weighing) {}

  void add(Role role, Purpose purpose, std::uint64_t dispatches, std::uint32_t round = 0) {
    weigh::Region result;
    result.arm = role;
    result.purpose = purpose;
    result.block = number_;
    result.round = round;
    result.order = order_++;
    result.dispatches = dispatches;
    const double noise = 1 + 1e-3 * (static_cast<double>(random_() >> 11) * 0x1p-53 - 0.5);
    const double kernel = static_cast<double>(dispatches) * seconds_of(role, purpose, wanted_);
    result.seconds = (kernel + wanted_.overhead_seconds) * noise;
    result.outer_seconds = result.seconds + 2e-5;
    result.cpu_seconds = result.seconds * 1.98;
    result.elsewhere_cpu_seconds = result.seconds / 1024;
    result.outputs = weigh::Outputs::kRight;
    weighing_.regions.push_back(result);
  }

 private:
  std::uint32_t number_, order_ = 0;
  const Wanted& wanted_;
  std::mt19937_64& random_;
  weigh::Weighing& weighing_;
};

void add_block(std::uint32_t number, const Wanted& wanted, std::mt19937_64& random,
               weigh::Weighing& weighing) {
  Block block(number, wanted, random, weighing);
  for (std::uint32_t round = 0; round < 5; ++round)
    for (const Role role : {Role::kCandidate, Role::kControl, Role::kIncumbent})
      block.add(role, Purpose::kRound, kRound, round);
  for (const Role role : {Role::kStream, Role::kPeak})
    for (std::uint32_t look = 0; look < 2; ++look) block.add(role, Purpose::kRound, kRound, look);
  if (number >= 8 && number % 4 != 0) return;
  for (const Role role : {Role::kCandidate, Role::kControl, Role::kIncumbent})
    block.add(role, Purpose::kLong, kLong);
  for (std::uint32_t round = 0; round < 5; ++round)
    block.add(Role::kIncumbent, Purpose::kHalfRing, kRound, round);
  for (const Role role : {Role::kCandidate, Role::kIncumbent}) {
    for (int look = 0; look < 4; ++look) block.add(role, Purpose::kSliceOne, 1);
    block.add(role, Purpose::kSliceMany, kSlice);
    block.add(role, Purpose::kSliceTwice, kSlice);
  }
}

weigh::Weighing weighing_of(const Wanted& wanted) {
  std::mt19937_64 random(wanted.seed);
  weigh::Weighing weighing;
  weighing.problem = {wanted.k,  wanted.n,  wanted.rows, TARE_BF16,
                      TARE_BF16, TARE_BF16, TARE_F32,    0};
  weighing.placements = {{std::uint64_t{0xfedcba9876543210}, 1e9, false, ""}};
  weighing.slice_columns = 64;
  weighing.timer_floor_seconds = 1.1e-7;
  weighing.threads = 2;
  weighing.last_level_cache_bytes = 33'554'432;
  weighing.arms = {arm(Role::kIncumbent, "onednn", "oneDNN 2.6.3", "brg:avx512_core_bf16"),
                   arm(Role::kControl, "onednn", "oneDNN 2.6.3", "brg:avx512_core_bf16"),
                   arm(Role::kCandidate, "tare_cpu", "Tare CPU 0.1.0", "panel64"),
                   arm(Role::kStream, "stream", "streaming read", "nt"),
                   arm(Role::kPeak, "peak", "bf16 peak", "vdpbf16ps")};
  for (std::uint32_t block = 0; block < wanted.blocks; ++block) {
    add_block(block, wanted, random, weighing);
  }
  weighing.proof.done = true;
  weighing.proof.elements = 4096;
  weighing.proof.differing = wanted.differing;
  weighing.proof.incumbent_error_max = 0.5;
  weighing.proof.candidate_error_max = 0.5;
  weighing.proof.oracle_elements = 64;
  return weighing;
}

}  // namespace

Header header() {
  Header header;
  header.tare_version = "0.1.0";
  header.date = "2026-01-02T03:04:05Z";
  header.command = {"headroom", "--rows", "1,8"};
  header.machine.processor = "AMD EPYC 9R14";
  header.machine.threads = 2;
  header.machine.cores = 2;
  header.machine.isa.avx512_bf16 = true;
  header.machine.memory_bytes = 16'000'000'000;
  header.machine.huge_pages = "madvise";
  header.libraries = {{"onednn", "oneDNN 2.6.3", true, "", false},
                      {"stream", "a limit with a long name", true, "", false, true},
                      {"stream512", "a limit that is absent", false, "no AVX-512", false, true},
                      {"mlx", "MLX", false, "libmlx.so was not found", false},
                      {"tare_cpu", "Tare CPU 0.1.0", true, "", true}};
  problem::Model model;
  model.name = "Qwen2.5-1.5B";
  model.source = "built in";
  model.projections = {{"q/o", 1536, 1536, 56, "BF16"}, {"k/v", 1536, 256, 56, "BF16"}};
  model.weights_per_token = 1'500'000'000;
  header.models = {model};
  header.rows = {1, 8};
  header.ring_bytes = 1'042'808'832;
  header.seed = 42;
  return header;
}

Row judged_row(const Wanted& wanted) {
  Row row;
  row.model = "Qwen2.5-1.5B";
  row.projection = wanted.projection;
  row.screened = {{"onednn", "oneDNN 2.6.3", wanted.incumbent_seconds, 31.2, ""},
                  {"ggml", "ggml 0.25", 3 * wanted.incumbent_seconds, 10.4, ""},
                  {"openblas", "OpenBLAS 0.3.21", 0, 0, "it has no bf16 product on this machine"}};
  row.weighing = weighing_of(wanted);
  row.judgement = judge::judge(row.weighing, header().rules);
  return row;
}

Row failed_row(const std::string& sentence) {
  Row row;
  row.model = "Qwen2.5-1.5B";
  row.projection = "k/v";
  row.weighing.problem = {1536, 256, 8, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  row.weighing.failure = sentence;
  row.judgement = judge::judge(row.weighing, header().rules);
  return row;
}

Row printed_row(double ratio, judge::Interval interval, judge::Verdict verdict,
                judge::Decision decision) {
  Row row;
  row.model = "Qwen2.5-1.5B";
  row.projection = "q/o";
  row.weighing.problem = {1536, 1536, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  row.weighing.arms = {arm(Role::kIncumbent, "onednn", "oneDNN 2.6.3", "brg")};
  judge::Judgement& judgement = row.judgement;
  judgement.fits[Role::kIncumbent].per_dispatch = 150e-6;
  judgement.limit_seconds = 100e-6;
  judgement.stream_bytes_per_second = 41.3e9;
  judgement.peak_operations_per_second = 0.47e12;
  judgement.incumbent_gbps = 31.24;
  judgement.gap = 1.321;
  judgement.ratio = ratio;
  judgement.interval = interval;
  judgement.naive_ratio = 1.8281;
  judgement.control_ratio = 0.996;
  judgement.log_evidence = 20;
  judgement.bits = judge::Bits::kEqual;
  judgement.verdict = verdict;
  judgement.decision = decision;
  return row;
}

TemporaryFile::TemporaryFile() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test->test_suite_name()) + "." + test->name();
  path_ = std::filesystem::path(testing::TempDir()) /
          ("tare_" + name + "_" + std::to_string(::getpid()) + ".jsonl");
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace tare::report::samples
