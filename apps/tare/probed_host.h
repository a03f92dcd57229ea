// An arm in a host of its own, asked for single dispatches with data of its asker's choice: what
// proofs and probes see of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arms/host.h"
#include "arms/roster.h"
#include "load/source.h"
#include "prove/data.h"
#include "prove/matrix.h"
#include "weigh/stage.h"

namespace tare::app {

struct ProbedArm {
  std::string executable;
  std::string module_path;
  std::uint32_t index = 0;  // of the arm within its module
  std::uint32_t threads = 1;
  arms::Settings environment;
  std::chrono::milliseconds patience{20'000};
  tare_problem problem{};  // rows is each dispatch's
  std::uint64_t weight_seed = 0;
  load::Source model{};  // of Data::kModel
  bool guarded = false;  // weights, x and y between guard pages
};

// Keeps one executor, for the last class of data. A host that crashed is started again by the next
// dispatch. Not thread-safe; the stage may serve several, one at a time.
class ProbedHost {
 public:
  // Throws tare::Error (kArm) when the module does not load in these circumstances.
  ProbedHost(const ProbedArm& arm, weigh::Stage& stage);

  // Why the arm does not compute the problem; nothing when it does.
  std::optional<std::string> refusal(std::uint32_t rows);

  // One dispatch; see prove::Compute. Throws tare::Error (kArm; arms::ControlWordChanged).
  void run(prove::Data data, std::uint32_t rows, prove::ConstElements x, int which,
           prove::Elements y);
  prove::Compute compute();

  // The same of several x in one region, each over a slot of its own, so that the host is asked
  // once: for weights that are alike in every slot (Data::kOnes). y[i]: [rows, n] of x[i]. At most
  // kMostTogether.
  static constexpr std::size_t kMostTogether = 8;
  std::vector<std::vector<prove::Bf16>> run_together(prove::Data data, std::uint32_t rows,
                                                     std::span<const std::vector<prove::Bf16>> x);

  // What ran at each row count so far.
  const std::map<std::uint32_t, tare_dispatch_record>& ran() const { return ran_; }
  // The first write outside an output, in a sentence; "" when there was none.
  const std::string& breach() const { return breach_; }

 private:
  void prepare(prove::Data data, std::uint32_t rows, std::uint32_t slots);
  void run_region(std::uint32_t rows, arms::RegionRequest request);
  tare_problem problem(std::uint32_t rows) const;

  ProbedArm arm_;
  weigh::Stage& stage_;
  arms::Host host_;
  struct Executor {
    std::uint32_t id, life, rows, slots;
    prove::Data data;
  };
  std::optional<Executor> executor_;
  std::map<std::uint32_t, tare_dispatch_record> ran_;
  std::string breach_;
};

}  // namespace tare::app
