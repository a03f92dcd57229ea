// The work of an arm host: answers the parent's commands with the arms of one module. Also used in
// process by unit tests; the process around it is host_process.h.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arms/control_page.h"
#include "arms/prepared_arm.h"
#include "arms/region.h"

namespace tare::arms {

class Server {
 public:
  // `inputs` and `outputs` are the parent's shared buffers. `threads` is what every arm may use.
  Server(std::string module_path, std::uint32_t threads, std::span<const std::byte> inputs,
         std::span<std::byte> outputs);

  // Reads page.command and page.request, fills page.reply. Never throws: what fails is told in
  // reply.text.
  void serve(ControlPage& page);

 private:
  void answer(ControlPage& page);
  void open(ControlPage& page);
  void describe_arms(Reply& reply, PhaseWord& phase);
  void supports(ControlPage& page);
  void prepare(ControlPage& page);
  std::shared_ptr<const RawRing> ring_for_limit(const Request& request);
  void chain(ControlPage& page);
  std::vector<ChainStep> steps_of(const std::vector<Link>& links);
  const PreparedArm& described(std::uint32_t id);
  void destroy(std::uint32_t id);
  void open_region(ControlPage& page);
  void region(ControlPage& page);
  void collect(ControlPage& page);
  void stage(const Request& request);
  void describe(ControlPage& page);
  const tare_arm& arm(std::uint32_t index) const;
  PreparedArm& prepared(std::uint32_t id);

  std::string module_path_;
  std::array<tare_services, TARE_ARM_ABI> services_;  // by version of the ABI, from 1 on
  std::span<const std::byte> inputs_;
  std::span<std::byte> outputs_;
  std::vector<const tare_arm*> arms_;
  std::map<std::uint32_t, std::unique_ptr<PreparedArm>> prepared_;
  std::map<std::uint32_t, std::vector<Link>> chains_;  // of prepared ones
  std::uint32_t next_executor_ = 1;
  // The region that a device holds ready: inputs change between regions, so each is staged anew.
  struct Staged {
    std::uint32_t executor = 0;
    RegionRequest region{};
    friend bool operator==(const Staged&, const Staged&) = default;
  };
  std::optional<Staged> staged_;
  // Limit arms read the same weights at the same place: filling a ring for each of a dozen read
  // kernels would take longer than trying them. Other arms never share (TRAPS T38).
  struct LimitRing {
    std::uint64_t k = 0, n = 0;
    std::uint32_t weights = 0, bias = 0;
    std::uint64_t seed = 0;
    std::uint32_t slots = 0;
    std::shared_ptr<const RawRing> ring;
  } limit_ring_;
};

}  // namespace tare::arms
