// Proving the contestants of a row through their arm hosts: before anything is timed, every slot of
// every arm's ring is run, compared and remembered.
#pragma once

#include <span>
#include <vector>

#include "prove/probe.h"
#include "weigh/contestant.h"
#include "weigh/stage.h"
#include "weigh/weighing.h"

namespace tare::app {

// Of one slot: enough to see an arm that is wrong or sums in another precision ...
inline constexpr std::size_t kOracleElements = 64;
// ... and to tell rms errors apart to some 3 % over the ten slots and the probes.
inline constexpr std::size_t kOracleElementsOfBounded = 1024;

class Proving {
 public:
  Proving(weigh::Stage& stage, const tare_problem& problem, std::uint64_t weight_seed)
      : stage_(stage), problem_(problem), weight_seed_(weight_seed) {}

  // Runs the whole ring once and keeps the digest of each slot's output: what timed regions are
  // checked with.
  void record_digests(weigh::Contestant& contestant);

  // Bits of the candidate against the incumbent, poisons, classes, fp64 errors: on drawn slots, and
  // on those whose recorded digests differ; then again with new values at the same addresses, some
  // of which cancel, and with a NaN in one row. The stage's inputs are those of `seed` before and
  // after. `oracle_elements` of every drawn slot are held against fp64. Throws tare::Error (kArm).
  weigh::Proof prove(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                     std::uint64_t seed, std::size_t oracle_elements = kOracleElements);

  // Every slot of both, on the inputs that are there: what a chain of them is made of. Throws
  // likewise.
  weigh::Proof prove_ring(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                          std::uint64_t seed);

 private:
  // Of the first `slots` of the ring, `most` that are drawn; of each, so many outputs against fp64.
  struct Sample {
    std::uint64_t slots = 1;
    std::uint64_t most = 1;
    std::size_t oracle_elements = kOracleElements;
  };
  weigh::Proof prove_slots(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                           const Sample& sample, std::uint64_t seed);
  void probe_sums(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                  weigh::Proof& proof);
  void probe_order(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                   weigh::Proof& proof);
  // In all rows x whose products with a column's weights cancel but for `rest`.
  void write_probe(std::uint64_t column, prove::Parts parts, float rest);
  std::vector<double> column_weights(std::uint64_t column) const;  // of slot 0
  prove::Elements input_row(std::uint32_t row);                    // of the first x
  void check_neighbours(const weigh::Contestant& incumbent, const weigh::Contestant& candidate,
                        weigh::Proof& proof);
  void gather(const weigh::Contestant& contestant, prove::ConstElements y,
              prove::Elements into) const;
  prove::ElementBuffer output_of(const weigh::Contestant& contestant);
  // `count` dispatches of the slots from `first` on, into the outputs from `first_output` on.
  void run(const weigh::Contestant& contestant, std::uint64_t first, std::uint32_t first_output,
           std::uint64_t count);

  weigh::Stage& stage_;
  tare_problem problem_;
  std::uint64_t weight_seed_;
};

}  // namespace tare::app
