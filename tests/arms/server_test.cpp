// The server in this process: the same interface without a process border.
#include "arms/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "prove/compare.h"
#include "prove/generator.h"

namespace tare::arms {
namespace {

class ServerTest : public testing::Test {
 protected:
  ServerTest() : server_(TARE_EXAMPLE_PLUGIN, 1, inputs_, outputs_) {
    ask(Command::kOpen);
    page_->request.problem = {8, 4, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
    page_->request.slots = 3;
  }
  const Reply& ask(Command command) {
    page_->command = command;
    server_.serve(*page_);
    return page_->reply;
  }

  alignas(64) std::array<std::byte, 4096> inputs_{};
  alignas(64) std::array<std::byte, 4096> outputs_{};
  std::unique_ptr<ControlPage> page_ = std::make_unique<ControlPage>();
  Server server_;
};

TEST_F(ServerTest, OpensPreparesRunsAndDestroys) {
  EXPECT_EQ(page_->reply.arm_count, 1u);
  ASSERT_EQ(ask(Command::kSupports).ok, 1u);
  ASSERT_EQ(ask(Command::kPrepare).ok, 1u);
  page_->request.executor = page_->reply.executor;
  page_->request.region.slots_used = 3;
  page_->request.region.dispatches = 7;
  ASSERT_EQ(ask(Command::kRegion).ok, 1u) << page_->reply.text;
  EXPECT_GT(page_->reply.region.seconds, 0.0);
  EXPECT_EQ(ask(Command::kDestroy).ok, 1u);
}

// W[4, 8] in a file of its own, which holds bf16 numbers 1, 2, ... from `offset` on: x takes a
// column of it.
class ModelTest : public ServerTest {
 protected:
  ModelTest() {
    char name[] = "/tmp/tare-weights-XXXXXX";
    close(mkstemp(name));
    path_ = name;
    page_->request.slots = 1;
  }
  ~ModelTest() override { std::filesystem::remove(path_); }

  void write(std::uint64_t offset, int count) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file << std::string(offset, '\0');
    for (int i = 1; i <= count; ++i) {
      const std::uint16_t bits = prove::to_bf16(static_cast<float>(i));
      file.write(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    load::Source& source = page_->request.ring.model;
    source = {.scheme = problem::Scheme::kPlain, .type = TARE_BF16, .k = 8, .n = 4};
    std::ranges::copy(path_, source.codes.path);
    source.codes.offset = offset;
    source.codes.bytes = 64;
    page_->request.ring.data = prove::Data::kModel;
  }
  // y of an x that is 1 at `column`.
  std::vector<float> outputs(std::size_t column) {
    EXPECT_EQ(ask(Command::kPrepare).ok, 1u) << page_->reply.text;
    page_->request.executor = page_->reply.executor;
    page_->request.region = {};
    const std::uint16_t one = prove::to_bf16(1);
    inputs_ = {};
    std::memcpy(inputs_.data() + 2 * column, &one, sizeof one);
    EXPECT_EQ(ask(Command::kRegion).ok, 1u) << page_->reply.text;
    std::vector<float> y;
    for (int j = 0; j < 4; ++j) {
      std::uint16_t bits;
      std::memcpy(&bits, outputs_.data() + 2 * j, sizeof bits);
      y.push_back(prove::to_float(bits));
    }
    return y;
  }

  std::string path_;
};

TEST_F(ModelTest, AnArmGetsTheFilesOwnWeights) {
  for (const std::uint64_t offset : {0, 64, 2, 1000})  // in place, and copied
    for (const std::uint32_t guarded : {0U, 1U}) {
      write(offset, 32);
      page_->request.ring.guarded = guarded;
      EXPECT_EQ(outputs(0), (std::vector<float>{1, 9, 17, 25})) << offset << " " << guarded;
      EXPECT_EQ(outputs(7), (std::vector<float>{8, 16, 24, 32})) << offset << " " << guarded;
    }
}

TEST_F(ModelTest, FilesThatAreNotWhatWasSaidAreTold) {
  write(0, 31);
  EXPECT_EQ(ask(Command::kPrepare).ok, 0u);
  EXPECT_NE(std::string(page_->reply.text).find("cut short"), std::string::npos);
  write(0, 32);
  page_->request.problem.n = 3;
  EXPECT_EQ(ask(Command::kPrepare).ok, 0u);
  EXPECT_NE(std::string(page_->reply.text).find("for another problem"), std::string::npos);
}

// Two executors of 8x4 and 4x8; each link's output is what a region of that slot alone leaves.
class ChainTest : public ServerTest {
 protected:
  ChainTest() {
    std::ranges::fill(inputs_, std::byte{0x3C});
    wide_ = prepared(8, 4);
    tall_ = prepared(4, 8);
  }
  std::uint32_t prepared(std::uint64_t k, std::uint64_t n) {
    page_->request.problem.k = k;
    page_->request.problem.n = n;
    return ask(Command::kPrepare).executor;
  }
  // What one dispatch writes at the beginning of the outputs.
  std::vector<std::byte> alone(std::uint32_t executor, std::uint32_t slot, std::size_t bytes) {
    page_->request.executor = executor;
    page_->request.region = {};
    page_->request.region.first_slot = slot;
    page_->request.region.slots_used = 3;
    EXPECT_EQ(ask(Command::kRegion).ok, 1u) << page_->reply.text;
    return {outputs_.begin(), outputs_.begin() + static_cast<std::ptrdiff_t>(bytes)};
  }
  const Reply& chain(const std::vector<Link>& links) {
    page_->request.link_count = static_cast<std::uint32_t>(links.size());
    std::ranges::copy(links, page_->request.links);
    return ask(Command::kChain);
  }
  std::vector<std::byte> written(std::size_t offset, std::size_t bytes) const {
    const auto from = outputs_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {from, from + static_cast<std::ptrdiff_t>(bytes)};
  }
  std::uint32_t wide_ = 0, tall_ = 0;
};

TEST_F(ChainTest, RunsEveryLinkAndKeepsTheLast) {
  const auto first = alone(wide_, 1, 8), second = alone(tall_, 2, 16), third = alone(wide_, 0, 8);
  ASSERT_NE(first, third) << "slots hold different weights";
  const std::uint32_t made =
      chain({{wide_, 1, 0, 64}, {tall_, 2, 64, 128}, {wide_, 0, 128, 192}}).executor;
  ASSERT_EQ(page_->reply.ok, 1u) << page_->reply.text;
  std::ranges::fill(outputs_, std::byte{0});
  page_->request.executor = made;
  page_->request.region = {};
  page_->request.region.dispatches = 2;
  page_->request.region.y_bytes = 8;
  page_->request.region.kept_offset = 1024;
  ASSERT_EQ(ask(Command::kOpenRegion).ok, 1u) << page_->reply.text;
  ASSERT_EQ(ask(Command::kRegion).ok, 1u) << page_->reply.text;
  EXPECT_GT(page_->reply.region.seconds, 0.0);
  EXPECT_EQ(written(64, 8), first);
  EXPECT_EQ(written(128, 16), second);
  EXPECT_EQ(written(192, 8), third);
  EXPECT_EQ(written(1024, 8), third);
  EXPECT_EQ(ask(Command::kDescribe).ok, 1u) << page_->reply.text;
  EXPECT_EQ(ask(Command::kDestroy).ok, 1u);
  EXPECT_EQ(ask(Command::kRegion).ok, 0u) << "it is gone";
  alone(wide_, 1, 8);  // its executors are not
}

TEST_F(ChainTest, RefusesWhatLiesOutside) {
  EXPECT_EQ(chain({}).ok, 0u);
  EXPECT_EQ(chain({{wide_, 3, 0, 0}}).ok, 0u) << "slots are 0 to 2";
  EXPECT_EQ(chain({{wide_, 0, 4096 - 8, 0}}).ok, 0u) << "x is 16 bytes";
  EXPECT_EQ(chain({{wide_, 0, 0, 4096 - 6}}).ok, 0u) << "y is 8 bytes";
  EXPECT_EQ(chain({{77, 0, 0, 0}}).ok, 0u);
  EXPECT_STRNE(page_->reply.text, "");
}

// 96 outputs, at once and as 32, 32 and 32: the same numbers, part behind part.
class ByPartsTest : public ChainTest {
 protected:
  static constexpr std::uint64_t kWhole = 96, kPart = 32, kRows = 2;
  using Values = std::vector<prove::Bf16>;

  ByPartsTest() {
    page_->request.problem = {8, kWhole, kRows, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
    prove::generate_activations(5, 0, 0,
                                {reinterpret_cast<prove::Bf16*>(inputs_.data()), kRows * 8});
  }
  const Reply& prepare(std::vector<std::uint64_t> parts) {
    page_->request.parts = {static_cast<std::uint32_t>(parts.size()), {}};
    std::ranges::copy(parts, page_->request.parts.n);
    return ask(Command::kPrepare);
  }
  Values outputs_of(std::uint32_t executor, std::uint32_t slot, std::uint64_t rows = kRows) {
    const auto bytes = alone(executor, slot, rows * kWhole * sizeof(prove::Bf16));
    const auto* values = reinterpret_cast<const prove::Bf16*>(bytes.data());
    return {values, values + rows * kWhole};
  }
  // [rows, n] laid part behind part.
  static Values part_behind_part(const Values& y, std::uint64_t rows) {
    Values into;
    for (std::uint64_t first = 0; first < kWhole; first += kPart)
      for (std::uint64_t row = 0; row < rows; ++row)
        into.insert(into.end(), y.begin() + static_cast<std::ptrdiff_t>(row * kWhole + first),
                    y.begin() + static_cast<std::ptrdiff_t>(row * kWhole + first + kPart));
    return into;
  }
};

TEST_F(ByPartsTest, GivesWhatTheWholeGivesPartBehindPart) {
  const std::uint32_t whole = prepare({}).executor;
  const std::uint32_t by_parts = prepare({kPart, kPart, kPart}).executor;
  ASSERT_EQ(page_->reply.ok, 1u) << page_->reply.text;
  for (const std::uint32_t slot : {0u, 2u})
    EXPECT_EQ(outputs_of(by_parts, slot), part_behind_part(outputs_of(whole, slot), kRows)) << slot;
  page_->request.executor = by_parts;
  ASSERT_EQ(ask(Command::kDescribe).ok, 1u);
  EXPECT_EQ(
      std::string(page_->reply.record.configuration).find("3 dispatches, one after the other"), 0u);
}

TEST_F(ByPartsTest, GivesEveryPartItsOwnBias) {
  const std::uint32_t bare = prepare({}).executor;
  page_->request.problem.bias = TARE_BF16;
  const std::uint32_t whole = prepare({}).executor;
  const std::uint32_t by_parts = prepare({kPart, kPart, kPart}).executor;
  ASSERT_EQ(page_->reply.ok, 1u) << page_->reply.text;
  EXPECT_NE(outputs_of(whole, 1), outputs_of(bare, 1));
  for (const std::uint32_t slot : {0u, 2u})
    EXPECT_EQ(outputs_of(by_parts, slot), part_behind_part(outputs_of(whole, slot), kRows)) << slot;
}

TEST_F(ByPartsTest, ChangesTheRowsOfAllParts) {
  const std::uint32_t whole = prepare({}).executor;
  const std::uint32_t by_parts = prepare({kPart, 2 * kPart}).executor;
  page_->request.problem.rows = 1;
  for (const std::uint32_t executor : {whole, by_parts}) {
    page_->request.executor = executor;
    if (ask(Command::kSetRows).ok == 0) GTEST_SKIP() << "the example is prepared for one row count";
  }
  EXPECT_EQ(outputs_of(by_parts, 1, 1), outputs_of(whole, 1, 1));
}

TEST_F(ByPartsTest, RefusesPartsThatDoNotFit) {
  EXPECT_EQ(prepare({kPart, kPart}).ok, 0u);
  EXPECT_NE(std::string(page_->reply.text).find("96 outputs, and 64"), std::string::npos)
      << page_->reply.text;
  EXPECT_EQ(prepare({8, kWhole - 8}).ok, 0u);
  EXPECT_NE(std::string(page_->reply.text).find("at 64 bytes"), std::string::npos);
  page_->request.parts.count = 99;
  EXPECT_EQ(ask(Command::kPrepare).ok, 0u);
}

TEST_F(ServerTest, AnswersAnUnknownExecutorWithASentence) {
  page_->request.executor = 77;
  EXPECT_EQ(ask(Command::kRegion).ok, 0u);
  EXPECT_STRNE(page_->reply.text, "");
}

TEST_F(ServerTest, AnswersAnUnknownArmWithASentence) {
  page_->request.arm = 5;
  EXPECT_EQ(ask(Command::kPrepare).ok, 0u);
  EXPECT_STRNE(page_->reply.text, "");
}

TEST_F(ServerTest, RefusesATypeItDoesNotCompute) {
  page_->request.problem.weights = TARE_F32;
  EXPECT_EQ(ask(Command::kSupports).ok, 0u);
  EXPECT_STRNE(page_->reply.text, "");
}

}  // namespace
}  // namespace tare::arms
