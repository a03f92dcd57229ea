#include "arms/prepared_arm.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/huge_arena.h"
#include "device/pages.h"
#include "load/lay_down.h"
#include "prove/weights.h"

namespace tare::arms {
namespace {

constexpr std::uint64_t kAlignment = 64;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

prove::WeightKey key_of(const tare_problem& problem, const WeightRequest& weights,
                        std::uint32_t slot, const load::StoredMatrix* model) {
  return {problem.weights, problem.k,    problem.n, weights.seed, slot,
          weights.data,    problem.bias, model};
}

// Bytes this process holds: what modules took from the arena, and what libraries took by malloc
// themselves.
std::uint64_t bytes_held() {
  const auto heap = mallinfo2();
  return device::huge_arena().bytes_in_use() + heap.uordblks + heap.hblkhd;
}

// Slots whose weights are generated side by side. A ring of 1 GB of 4-bit weights took one
// processor more than 11 s.
std::uint32_t made_at_once() {
  constexpr unsigned kMost = 8;
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

std::unique_ptr<const tare_arm> table_by_parts(const tare_arm& arm, const Parts& parts) {
  if (parts.count == 0) return nullptr;
  if (parts.count > Parts::kMost) fail(Blame::kArm, "more than {} parts", Parts::kMost);
  if ((arm.flags & TARE_ON_DEVICE) != 0)
    fail(Blame::kArm, "dispatches by parts of an arm on a device are not there yet");
  return std::make_unique<const tare_arm>(by_parts(arm));
}

std::string sentence_or(const char* text, const char* otherwise) {
  return *text != '\0' ? text : otherwise;
}

}  // namespace

void enter(PhaseWord& phase, Phase what) {
  phase.store(static_cast<std::uint32_t>(what), std::memory_order_relaxed);
}

RawRing::RawRing(std::uint64_t slot_bytes, std::uint32_t slots, bool guarded)
    : stride_((slot_bytes + kAlignment - 1) / kAlignment * kAlignment) {
  if (guarded) {
    for (std::uint32_t slot = 0; slot < slots; ++slot) guarded_.emplace_back(slot_bytes);
    return;
  }
  memory_ = static_cast<char*>(device::huge_arena().allocate(stride_ * slots));
  if (memory_ == nullptr)
    fail(Blame::kMachine,
         "Not enough memory for a ring of {} slots of {} bytes. Close other programs, or give a "
         "smaller --ring.",
         slots, slot_bytes);
}

RawRing::~RawRing() {
  device::huge_arena().release(memory_);
}

void RawRing::forbid_writes() {
  for (device::GuardedPages& slot : guarded_) slot.forbid_writes();
}

void* RawRing::slot(std::uint32_t index) const {
  return !guarded_.empty() ? static_cast<void*>(guarded_[index].bytes().data())
                           : memory_ + stride_ * index;
}

PreparedArm::PreparedArm(const tare_arm& arm, const Request& request, PhaseWord& phase,
                         std::shared_ptr<const RawRing> ring)
    : by_parts_(table_by_parts(arm, request.parts)),
      arm_(by_parts_ != nullptr ? *by_parts_ : arm),
      problem_{request.problem, &arm, request.parts},
      slots_(request.slots),
      phase_(phase),
      raw_(std::move(ring)) {
  const std::uint64_t held_before = bytes_held();
  plan();
  try {
    bind_all(request.ring, request.keep_raw != 0);
  } catch (...) {
    arm_.destroy(executor_);
    throw;
  }
  enter(phase_, Phase::kIdle);
  cost_.bytes_per_slot = (bytes_held() - std::min(held_before, bytes_held())) / slots_;
  cost_.on_device = device_arm() != nullptr ? 1 : 0;
  // The ring of an arm on a device is not in the memory that has these pages.
  cost_.huge_page_share = cost_.on_device != 0 ? 0 : device::process_huge_page_share();
}

PreparedArm::~PreparedArm() {
  enter(phase_, Phase::kDestroy);
  arm_.destroy(executor_);
  enter(phase_, Phase::kIdle);
}

const tare_device_arm* PreparedArm::device_arm() const {
  const bool on_device = (arm_.flags & TARE_ON_DEVICE) != 0;
  return on_device ? reinterpret_cast<const tare_device_arm*>(&arm_) : nullptr;
}

void PreparedArm::plan() {
  char why[kTextBytes] = "";
  enter(phase_, Phase::kPrepare);
  const auto start = std::chrono::steady_clock::now();
  if (arm_.prepare(&problem(), slots_, &executor_, why, sizeof why) != 0)
    fail(Blame::kArm, "prepare() failed: {}", sentence_or(why, "it gave no reason"));
  cost_.plan_seconds = seconds_since(start);
  if (executor_ == nullptr) fail(Blame::kArm, "prepare() succeeded but gave no executor.");
}

void PreparedArm::bind_all(const WeightRequest& weights, bool keep_raw) {
  if (raw_ != nullptr) {
    for (std::uint32_t slot = 0; slot < slots_; ++slot) bind(slot, raw_->slot(slot));
    return;
  }
  open_model(weights);
  if (!keep_raw && weights.guarded == 0 && bind_in_place()) return;
  const bool in_place = (arm_.flags & TARE_READS_WEIGHTS_IN_PLACE) != 0 || keep_raw;
  const std::uint32_t at_once = std::min(slots_, made_at_once());
  const auto ring = std::make_shared<RawRing>(
      prove::weight_buffer_bytes(key_of(problem(), weights, 0, model_.get())),
      in_place ? slots_ : at_once, weights.guarded != 0);
  for (std::uint32_t first = 0; first < slots_; first += at_once) {
    const std::uint32_t end = std::min(slots_, first + at_once);
    const auto memory = [&](std::uint32_t slot) {
      return ring->slot(in_place ? slot : slot - first);
    };
    std::vector<std::future<void>> made;
    for (std::uint32_t slot = first; slot < end; ++slot)
      made.push_back(std::async(std::launch::async, [&, slot] {
        prove::generate_slot(key_of(problem(), weights, slot, model_.get()), memory(slot));
      }));
    for (std::future<void>& one : made) one.get();
    if (end == slots_) ring->forbid_writes();
    for (std::uint32_t slot = first; slot < end; ++slot) bind(slot, memory(slot));
  }
  if (in_place) raw_ = ring;
}

void PreparedArm::open_model(const WeightRequest& weights) {
  if (weights.data != prove::Data::kModel) return;
  model_ = std::make_unique<const load::StoredMatrix>(weights.model);
  const load::Source& source = model_->source();
  if (source.k != problem().k || source.n != problem().n)
    fail(Blame::kArm, "a model's matrix of k = {} and n = {} for another problem", source.k,
         source.n);
}

// False unless they are a model's, and the file's own bytes can be handed over.
bool PreparedArm::bind_in_place() {
  const void* own = model_ == nullptr ? nullptr : load::in_place(*model_, problem().weights);
  if (own == nullptr) return false;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) bind(slot, own);
  return true;
}

void PreparedArm::bind(std::uint32_t slot, const void* weights) {
  char why[kTextBytes] = "";
  enter(phase_, Phase::kBind);
  const auto start = std::chrono::steady_clock::now();
  if (arm_.bind(executor_, slot, weights, why, sizeof why) != 0)
    fail(Blame::kArm, "bind() of slot {} failed: {}", slot, sentence_or(why, "it gave no reason"));
  cost_.bind_seconds_per_slot += seconds_since(start) / slots_;
}

bool PreparedArm::set_rows(std::uint32_t rows) {
  if (arm_.set_rows == nullptr) return false;
  char why[kTextBytes] = "";
  enter(phase_, Phase::kSetRows);
  const bool done = arm_.set_rows(executor_, rows, why, sizeof why) == 0;
  enter(phase_, Phase::kIdle);
  if (done) problem_.problem.rows = rows;
  return done;
}

}  // namespace tare::arms
