// The server in this process: the same interface without a process border.
#include "arms/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "prove/generator.h"

namespace tare::arms {
namespace {

class ServerTest : public testing::Test {
 protected:
  ServerTest() : server_(TARE_EXAMPLE_PLUGIN, 1, inputs_, outputs_) {
    ask(Command::kOpen);
    page_->request.problem = {8, 4, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32};
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
