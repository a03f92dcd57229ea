// The shared buffers every arm host sees: the inputs (read-only to hosts) and the outputs with
// guard zones around them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arms/control_page.h"
#include "arms/shared_memory.h"
#include "prove/elements.h"
#include "prove/guard.h"
#include "tare/arm.h"

namespace tare::weigh {

class Stage {
 public:
  // Big enough for any of the problems. Throws tare::Error (kMachine) when there is not enough
  // memory.
  explicit Stage(std::span<const tare_problem> problems);

  // Lays the buffers out for one problem; the inputs stay as they are.
  void lay_out(const tare_problem& problem);
  // The same, and fills the inputs from `seed`.
  void set_problem(const tare_problem& problem, std::uint64_t seed);

  const arms::SharedMemory& inputs_memory() const { return inputs_; }
  const arms::SharedMemory& outputs_memory() const { return outputs_; }

  std::uint32_t outputs() const { return output_count_; }
  prove::ConstElements input(std::uint64_t slot) const;  // x of that slot, [rows, k]
  // The same, to be written between dispatches: other values at the same addresses. Slots share
  // inputs: input_of() says which.
  prove::Elements writable_input(std::uint64_t slot);
  static std::uint64_t input_of(std::uint64_t slot);
  void fill_inputs(std::uint64_t seed);         // all of them anew
  prove::Elements output(std::uint32_t index);  // output buffer `index`, [rows, n]
  prove::Elements kept_output();  // the last y of a region, as it was when the region ended

  // How arms on a device are to launch dispatches (TARE_REGION_...): the same for all.
  void set_device_flags(std::uint32_t flags) { device_flags_ = flags; }

  // The part of a region request that says where x and y are.
  arms::RegionRequest addresses() const;

  // Makes every output wrong in one element, so that an arm that writes nothing is seen even where
  // the output before would have been right (TRAPS C3, T10). One element each, so that the buffers
  // stay as warm as the last arm left them.
  void spoil_outputs();

  // A sentence about what was written outside the outputs since the last call; nothing when the
  // guards held.
  std::optional<std::string> take_breach();

 private:
  std::span<std::byte> output_area() const;

  arms::SharedMemory inputs_, outputs_;
  tare_problem problem_{};
  std::uint32_t output_count_ = 1;
  std::uint32_t device_flags_ = 0;
  prove::GuardedArea layout_{{}};
  std::uint64_t spoiled_ = 0;
};

}  // namespace tare::weigh
