#include "arms/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

#include "arms/module.h"
#include "arms/region.h"
#include "base/error.h"
#include "device/huge_arena.h"
#include "device/l2_set_aside.h"
#include "formats/weight_format.h"

namespace tare::arms {
namespace {

template <std::size_t Size>
void copy_text(std::string_view text, char (&into)[Size]) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::copy_n(text.data(), length, into);
  into[length] = '\0';
}

void* allocate(std::size_t bytes) {
  return device::huge_arena().allocate(bytes);
}
void release(void* memory) {
  device::huge_arena().release(memory);
}

// A plugin may have filled a field to the brim.
void terminate_texts(tare_dispatch_record& record) {
  record.kernel[sizeof record.kernel - 1] = '\0';
  record.isa[sizeof record.isa - 1] = '\0';
  record.configuration[sizeof record.configuration - 1] = '\0';
  record.library[sizeof record.library - 1] = '\0';
}

// What the header did not say that a module was built with, it cannot be asked.
void require_known(const tare_arm& arm, const tare_problem& problem) {
  if (arm.abi < 2 && problem.bias != 0)
    fail(Blame::kArm,
         "built for arm ABI {}, which knows no bias: it is asked only for problems without one. "
         "Rebuild it against this tare/arm.h.",
         arm.abi);
}

}  // namespace

Server::Server(std::string module_path, std::uint32_t threads, std::span<const std::byte> inputs,
               std::span<std::byte> outputs)
    : module_path_(std::move(module_path)), inputs_(inputs), outputs_(outputs) {
  for (std::uint32_t abi = TARE_ARM_OLDEST_ABI; abi <= TARE_ARM_ABI; ++abi)
    services_[abi - 1] = {abi, threads, allocate, release};
}

void Server::serve(ControlPage& page) {
  page.reply.ok = 0;
  page.reply.control_word_changed = 0;
  page.reply.text[0] = '\0';
  try {
    answer(page);
  } catch (const ControlWordChanged& error) {
    page.reply.ok = 0;
    page.reply.control_word_changed = 1;
    copy_text(error.what(), page.reply.text);
  } catch (const std::exception& error) {
    page.reply.ok = 0;
    copy_text(error.what(), page.reply.text);
  } catch (...) {
    page.reply.ok = 0;
    copy_text("it threw a C++ exception of an unknown type across the C ABI", page.reply.text);
  }
  enter(page.phase, Phase::kIdle);
}

void Server::answer(ControlPage& page) {
  page.reply.ok = 1;
  switch (page.command) {
    case Command::kOpen:
      return open(page);
    case Command::kSupports:
      return supports(page);
    case Command::kPrepare:
      return prepare(page);
    case Command::kSetRows:
      page.reply.ok = prepared(page.request.executor).set_rows(page.request.problem.rows) ? 1 : 0;
      return;
    case Command::kChain:
      return chain(page);
    case Command::kOpenRegion:
      return open_region(page);
    case Command::kRegion:
      return region(page);
    case Command::kCollect:
      return collect(page);
    case Command::kDescribe:
      return describe(page);
    case Command::kDestroy:
      return destroy(page.request.executor);
    case Command::kQuit:
      prepared_.clear();
      return;
  }
}

void Server::open(ControlPage& page) {
  enter(page.phase, Phase::kLoad);
  arms_ = load_module(module_path_);
  describe_arms(page.reply, page.phase);
}

void Server::describe_arms(Reply& reply, PhaseWord& phase) {
  reply.arm_count = static_cast<std::uint32_t>(arms_.size());
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    ArmEntry& entry = reply.arms[i];
    char why[sizeof entry.refusal] = "";
    enter(phase, Phase::kOpen);
    const bool usable = arms_[i]->open(&services_[arms_[i]->abi - 1], why, sizeof why) == 0;
    why[sizeof why - 1] = '\0';
    copy_text(usable ? "" : *why != '\0' ? why : "open() failed and gave no reason", entry.refusal);
    copy_text(arms_[i]->name, entry.name);
    copy_text(title_with_version(*arms_[i]), entry.title);
    entry.flags = arms_[i]->flags;
  }
}

void Server::supports(ControlPage& page) {
  char why[kTextBytes] = "";
  require_known(arm(page.request.arm), page.request.problem);
  enter(page.phase, Phase::kSupports);
  if (arm(page.request.arm).supports(&page.request.problem, why, sizeof why) == 0) return;
  page.reply.ok = 0;
  why[sizeof why - 1] = '\0';
  copy_text(*why != '\0' ? why : "supports() said no and gave no reason", page.reply.text);
}

void Server::prepare(ControlPage& page) {
  if (prepared_.size() >= kMostExecutors)
    fail(Blame::kArm, "more than {} executors in one arm host", kMostExecutors);
  const Request& request = page.request;
  const tare_arm& chosen = arm(request.arm);
  require_known(chosen, request.problem);
  const bool limit = (chosen.flags & TARE_IS_LIMIT) != 0 && request.slots > 1;
  auto made = std::make_unique<PreparedArm>(chosen, request, page.phase,
                                            limit ? ring_for_limit(request) : nullptr);
  if (limit)
    limit_ring_ = {request.problem.k,    request.problem.n, request.problem.weights,
                   request.problem.bias, request.ring.seed, request.slots,
                   made->raw_ring()};
  page.reply.executor = next_executor_++;
  page.reply.prepare = made->cost();
  prepared_[page.reply.executor] = std::move(made);
}

// The ring that the last limit arm read, when it holds the weights asked for.
std::shared_ptr<const RawRing> Server::ring_for_limit(const Request& request) {
  const bool same = limit_ring_.k == request.problem.k && limit_ring_.n == request.problem.n &&
                    limit_ring_.weights == request.problem.weights &&
                    limit_ring_.bias == request.problem.bias &&
                    limit_ring_.seed == request.ring.seed && limit_ring_.slots == request.slots;
  if (!same) limit_ring_ = {};
  return limit_ring_.ring;
}

// Every step is looked at once, here; a region then only follows the addresses.
void Server::chain(ControlPage& page) {
  const Request& request = page.request;
  const std::uint32_t count = std::min(request.link_count, kMostLinks);
  if (count == 0) fail(Blame::kArm, "a chain of no dispatches");
  std::vector<Link> links(request.links, request.links + count);
  for (const ChainStep& step : steps_of(links)) {
    const tare_problem& problem = step.arm->problem();
    const std::uint64_t x_bytes =
                            problem.rows * problem.k * formats::value_bytes(problem.activations),
                        y_bytes = problem.rows * problem.n * formats::value_bytes(problem.output);
    if (step.slot >= step.arm->slots() || step.x_offset + x_bytes > inputs_.size() ||
        step.y_offset + y_bytes > outputs_.size())
      fail(Blame::kArm, "a dispatch of the chain lies outside the weights or the shared buffers");
    if (step.arm->device_arm() != nullptr)
      fail(Blame::kArm, "chains of arms on a device are not there yet");
  }
  page.reply.executor = next_executor_++;
  chains_[page.reply.executor] = std::move(links);
}

std::vector<ChainStep> Server::steps_of(const std::vector<Link>& links) {
  std::vector<ChainStep> steps;
  steps.reserve(links.size());
  for (const Link& link : links)
    steps.push_back({&prepared(link.executor), link.slot, link.x_offset, link.y_offset});
  return steps;
}

void Server::destroy(std::uint32_t id) {
  staged_.reset();
  if (chains_.erase(id) == 0) prepared_.erase(id);
}

// A chain is described by its first dispatch: what a layer begins with.
const PreparedArm& Server::described(std::uint32_t id) {
  const auto found = chains_.find(id);
  return prepared(found == chains_.end() ? id : found->second.front().executor);
}

// The device's copies are made before the opening dispatch, so that the region follows it at once.
void Server::open_region(ControlPage& page) {
  if (const auto found = chains_.find(page.request.executor); found != chains_.end())
    return open_chain(steps_of(found->second), page.request.region, inputs_, outputs_);
  stage(page.request);
  arms::open_region(prepared(page.request.executor), page.request.region, inputs_, outputs_);
}

void Server::stage(const Request& request) {
  staged_.reset();
  const PreparedArm& arm = prepared(request.executor);
  if (!is_staged(arm, request.region)) return;
  stage_region(arm, request.region, inputs_, outputs_);
  staged_ = {request.executor, request.region};
}

void Server::region(ControlPage& page) {
  if (const auto found = chains_.find(page.request.executor); found != chains_.end()) {
    page.reply.region = run_chain(steps_of(found->second), page.request.region, inputs_, outputs_);
    return;
  }
  if (page.request.region.guarded != 0)
    return run_guarded(prepared(page.request.executor), page.request.region, inputs_, outputs_);
  if (staged_ != Staged{page.request.executor, page.request.region}) stage(page.request);
  page.reply.region =
      run_region(prepared(page.request.executor), page.request.region, inputs_, outputs_);
}

void Server::collect(ControlPage& page) {
  const bool holds = staged_ && staged_->executor == page.request.executor;
  page.reply.region.device_seconds =
      holds ? collect_region(prepared(staged_->executor), staged_->region, outputs_) : 0;
  staged_.reset();
}

void Server::describe(ControlPage& page) {
  const PreparedArm& arm = described(page.request.executor);
  page.reply.record = {};
  enter(page.phase, Phase::kDescribe);
  if (arm.arm().dispatched(arm.executor(), &page.reply.record) != 0)
    fail(Blame::kArm, "dispatched() failed: it cannot say which kernel ran.");
  terminate_texts(page.reply.record);
  page.reply.l2_set_aside_bytes = device::l2_set_aside_bytes();
}

const tare_arm& Server::arm(std::uint32_t index) const {
  if (index >= arms_.size()) fail(Blame::kArm, "no arm {} in {}", index, module_path_);
  return *arms_[index];
}

PreparedArm& Server::prepared(std::uint32_t id) {
  const auto found = prepared_.find(id);
  if (found == prepared_.end()) fail(Blame::kArm, "no executor {} in {}", id, module_path_);
  return *found->second;
}

}  // namespace tare::arms
