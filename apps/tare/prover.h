// Proves one implementation at one problem after the other: finds its hosts and circumstances for
// prove/matrix.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arms/roster.h"
#include "device/accelerator.h"
#include "device/machine.h"
#include "probed_host.h"
#include "prove/certificate.h"
#include "prove/matrix.h"
#include "weigh/stage.h"

namespace tare::app {

// What all proofs of one run share.
struct ProofBench {
  const device::Machine& machine;
  const std::optional<device::Accelerator>& accelerator;  // where arms run; nothing: the processor
  weigh::Stage& stage;
  std::chrono::milliseconds patience;
};

// All proofs of one problem: what is drawn for it, and what each implementation that was asked
// answered.
class Prover {
 public:
  Prover(const ProofBench& bench, const prove::MatrixPlan& plan);

  // Why the arm does not compute the problem; nothing when it does.
  std::optional<std::string> refusal(const arms::RosterArm& arm) const;

  // `incumbent` may be null. What fails is told in the certificate; throws Interrupted only.
  prove::Certificate prove(const arms::RosterArm& arm, const arms::RosterArm* incumbent);

 private:
  void prove_or_throw(const arms::RosterArm& arm, const arms::RosterArm* incumbent,
                      prove::Certificate& certificate);
  void describe(const arms::RosterArm& arm, const arms::RosterArm* incumbent,
                prove::Certificate& certificate) const;
  void prove_threads(const arms::RosterArm& arm, const prove::Recorded& own,
                     prove::Certificate& certificate);
  void prove_isas(const arms::RosterArm& arm, const prove::Recorded& own,
                  prove::Certificate& certificate);
  bool prove_circumstance(const ProbedArm& probed, const prove::Recorded& own,
                          std::string_view line, std::string setting,
                          prove::Certificate& certificate);
  const prove::Recorded& incumbent_outputs(const arms::RosterArm& incumbent);
  ProbedArm probed(const arms::RosterArm& arm) const;

  ProofBench bench_;
  prove::MatrixPlan plan_;
  std::vector<prove::Drawn> drawn_;
  std::map<std::string, prove::Recorded> recorded_;  // of incumbents, by name
};

}  // namespace tare::app
