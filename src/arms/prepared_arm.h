// An arm bound to one problem, with its ring of weights: everything that can be done once is done.
// Lives in the arm host.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "arms/arm_by_parts.h"
#include "arms/control_page.h"
#include "device/guarded_pages.h"
#include "load/stored_matrix.h"
#include "tare/arm.h"

namespace tare::arms {

// Weights of a ring as the generator made them: slot after slot, each 64-byte aligned, on huge
// pages; or each between guard pages of its own.
class RawRing {
 public:
  // Throws tare::Error (kMachine) when there is not enough memory.
  RawRing(std::uint64_t slot_bytes, std::uint32_t slots, bool guarded);
  ~RawRing();
  RawRing(const RawRing&) = delete;
  RawRing& operator=(const RawRing&) = delete;
  void* slot(std::uint32_t index) const;
  void forbid_writes();  // of guarded slots: the generator is done

 private:
  std::vector<device::GuardedPages> guarded_;  // empty: all slots lie in `memory_`
  std::uint64_t stride_;
  char* memory_ = nullptr;
};

// The phase is told to the parent before every call into the module, so that a crash or a hang can
// be named.
using PhaseWord = std::atomic<std::uint32_t>;

class PreparedArm {
 public:
  // Plans, generates the weights of every slot, or reads a model's, and binds them; `ring`, when
  // given, holds them already. Throws tare::Error: kArm with the module's own sentence, kMachine
  // when memory is short.
  PreparedArm(const tare_arm& arm, const Request& request, PhaseWord& phase,
              std::shared_ptr<const RawRing> ring = nullptr);
  ~PreparedArm();
  PreparedArm(const PreparedArm&) = delete;
  PreparedArm& operator=(const PreparedArm&) = delete;

  // The same weights for another row count; prepares nothing anew. False when the module cannot.
  bool set_rows(std::uint32_t rows);

  const tare_arm& arm() const { return arm_; }
  const tare_device_arm* device_arm() const;  // null: its work runs on the processor
  const tare_problem& problem() const { return problem_.problem; }
  tare_executor* executor() const { return executor_; }
  // The weights as generated: of arms that read them in place, and for per-call regions.
  std::shared_ptr<const RawRing> raw_ring() const { return raw_; }
  PhaseWord& phase() const { return phase_; }
  const PrepareReply& cost() const { return cost_; }
  std::uint32_t slots() const { return slots_; }

 private:
  void plan();
  void bind_all(const WeightRequest& weights, bool keep_raw);
  void open_model(const WeightRequest& weights);
  bool bind_in_place();
  void bind(std::uint32_t slot, const void* weights);

  const std::unique_ptr<const tare_arm> by_parts_;  // null: as one dispatch
  const tare_arm& arm_;  // the module's own table, or that of it by parts
  ProblemByParts problem_;
  std::uint32_t slots_;
  PhaseWord& phase_;
  std::unique_ptr<const load::StoredMatrix> model_;  // whose bytes may be bound as they are
  std::shared_ptr<const RawRing> raw_;
  tare_executor* executor_ = nullptr;
  PrepareReply cost_;
};

// Tells the parent which call of the module is running.
void enter(PhaseWord& phase, Phase what);

}  // namespace tare::arms
