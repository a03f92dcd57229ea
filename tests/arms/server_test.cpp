// The server in this process: the same interface without a process border.
#include "arms/server.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

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
